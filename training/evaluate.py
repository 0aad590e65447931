"""Measures a model through the SDK itself: agents, grammar, real tools, greedy; on what training never used.

    python -m training.evaluate --json [--model k3-mini] [--limit 50] [--families shipped json ...]

Prints a table to stderr and, with --json, one object to stdout. ``ok`` is the headline of a family: the full
call (shipped, two_step, invented), all fields (json, label), the right word (pictures), no call (no_call,
chat), the right answer (written). Other columns: right first tool, answer states the result, task (answer
states the result after calls), share of right fields.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import anyio

from kimi_sdk import Agent, Limits, Model, Sampling
from kimi_sdk.errors import KimiError, RunError
from kimi_sdk.messages import Message
from kimi_sdk.output import JsonSchema
from training.tasks import FAMILIES, Outcome, Task, make


class Declared(JsonSchema):
    """A schema as it comes from a pydantic model: objects have the declared properties only."""

    closed = True


def outcome_of(messages: Sequence[Message], **more: Any) -> Outcome:
    """What the messages of a run tell."""
    calls = [call for message in messages for call in message.calls]
    results = [result for message in messages for result in message.results]
    last = messages[-1].text if messages and messages[-1].role == "assistant" else ""
    return Outcome(calls, results, more.pop("answer", last), **more)


async def attempt(model: Model, task: Task, sampling: Sampling) -> Outcome:
    """Runs one task to its end."""
    agent: Agent[None, Any] = Agent(
        model,
        instructions=task.instructions,
        tools=task.tools,
        output_type=str if task.schema is None else Declared(task.schema),
        sampling=sampling,
        limits=Limits(steps=6, output_tokens=1500),
        output_retries=0,
    )
    try:
        result = await agent.run(task.prompt)
    except RunError as error:
        return outcome_of(error.messages, error=str(error), ended=False)
    except KimiError as error:
        return Outcome(error=str(error), ended=False)
    typed = result.output if task.schema is not None else None
    return outcome_of(result.new_messages, value=typed)


async def measure(model: Model, tasks: Sequence[Task], sampling: Sampling, at_once: int) -> list[Outcome]:
    """Outcomes in task order; ``at_once`` tasks run together."""
    outcomes = [Outcome()] * len(tasks)
    limiter = anyio.CapacityLimiter(at_once)

    async def one(index: int) -> None:
        async with limiter:
            try:
                outcomes[index] = await attempt(model, tasks[index], sampling)
            finally:
                tasks[index].finish()

    async with anyio.create_task_group() as group:
        for index in range(len(tasks)):
            group.start_soon(one, index)
    return outcomes


def summary(tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Means of the scores of a family, with the number of tasks."""
    sums: dict[str, float] = defaultdict(float)
    for task, outcome in zip(tasks, outcomes, strict=True):
        for name, score in task.judge(outcome).items():
            sums[name] += float(score)
    means = {name: round(value / len(tasks), 4) for name, value in sums.items()}
    means["n"] = len(tasks)
    means["unfinished"] = sum(not outcome.ended for outcome in outcomes)
    return means


def shown(task: Task, outcome: Outcome) -> dict[str, Any]:
    """A failure, to be read."""
    return {
        "prompt": " ".join(part if isinstance(part, str) else "[image]" for part in task.prompt),
        "expected": task.expected,
        "calls": [f"{call.name}({dict(call.args)})" for call in outcome.calls],
        "answer": outcome.answer,
        "value": outcome.value,
        "error": outcome.error,
    }


async def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measures every family that was asked for."""
    report: dict[str, Any] = {
        "model": arguments.model,
        "seed": arguments.seed,
        "thinking": arguments.thinking,
        "families": {},
    }
    async with Model.from_pretrained(arguments.model, max_running=arguments.at_once) as model:
        sampling = Sampling(temperature=0.0, max_tokens=400, thinking=arguments.thinking)
        for family in arguments.families:
            started = time.perf_counter()
            tasks = make(family, arguments.limit, arguments.seed)
            outcomes = await measure(model, tasks, sampling, arguments.at_once)
            means = summary(tasks, outcomes)
            means["seconds"] = round(time.perf_counter() - started, 1)
            report["families"][family] = means
            print(row(family, means), file=sys.stderr, flush=True)
            if arguments.failures:
                failed = [
                    shown(t, o) for t, o in zip(tasks, outcomes, strict=True) if not t.judge(o).get("ok")
                ]
                report.setdefault("failures", {})[family] = failed[: arguments.failures]
    return report


def row(family: str, means: dict[str, float]) -> str:
    """A family's line of the table."""
    scores = "  ".join(
        f"{name} {100 * value:5.1f}%"
        for name, value in means.items()
        if name not in ("n", "seconds", "unfinished")
    )
    end = f"unfinished {means['unfinished']:.0f}  {means['seconds']:.1f} s"
    return f"{family:10s} n {means['n']:4.0f}  {scores}  {end}"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m training.evaluate", description=__doc__.split("\n")[0] if __doc__ else ""
    )
    parser.add_argument("--model", default="k3-mini", help="a folder or the name of the bundled model")
    parser.add_argument("--limit", type=int, default=50, help="tasks of each family")
    parser.add_argument(
        "--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES), metavar="FAMILY"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=8, help="tasks that run together")
    parser.add_argument(
        "--failures", type=int, default=0, help="show this many failed tasks of each family in the JSON"
    )
    parser.add_argument("--no-thinking", dest="thinking", action="store_false")
    parser.add_argument("--json", action="store_true", help="print one JSON object to stdout")
    arguments = parser.parse_args(argv)
    report = anyio.run(run, arguments)
    if arguments.json:
        print(json.dumps(report, ensure_ascii=False))


if __name__ == "__main__":
    main()
