"""Turns of a model that knows nothing: every call it writes must name a declared tool and fit its schema.

    python benchmarks/valid_turns.py --turns 200 --json

The tiny random model samples at temperature 1 with the built-in tools declared; a third of the turns may
call, a third must call, a third must call one named tool. Ends with 1 if one call is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter

import anyio
from jsonschema import Draft202012Validator

from kimi_sdk import Model, Sampling, Tool, builtin_tools


async def turn(model: Model, tools: dict[str, Tool[..., object]], seed: int, seen: Counter[str]) -> None:
    """Writes one turn and judges its calls by jsonschema, which the grammar does not use."""
    sampling = Sampling(temperature=1.0, top_p=1.0, seed=seed, thinking_tokens=seed % 8, max_tokens=200)
    choice = ("auto", "required", [*tools][seed % len(tools)])[seed % 3]
    reply = await model.chat("Go", tools=tools.values(), tool_choice=choice, sampling=sampling)
    seen["turns"] += 1
    seen["cut"] += reply.finish_reason == "length"
    for call in reply.message.calls:
        seen["calls"] += 1
        tool = tools.get(call.name)
        if tool is None or not Draft202012Validator(dict(tool.parameters)).is_valid(dict(call.args)):
            seen["wrong"] += 1
            print(f"seed {seed}: {call.name} {dict(call.args)!r}", file=sys.stderr)


async def main(turns: int) -> Counter[str]:
    tools = {tool.name: tool for tool in builtin_tools()}
    seen = Counter(turns=0, cut=0, calls=0, wrong=0)
    limiter = anyio.CapacityLimiter(8)

    async def one(seed: int) -> None:
        async with limiter:
            await turn(model, tools, seed, seen)

    async with Model.from_config("tiny") as model, anyio.create_task_group() as group:
        for seed in range(turns):
            group.start_soon(one, seed)
    return seen


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    began = time.perf_counter()
    counts = anyio.run(main, options.turns)
    told = {**counts, "seconds": round(time.perf_counter() - began, 1)}
    print(json.dumps(told) if options.json else " · ".join(f"{name} {value}" for name, value in told.items()))
    sys.exit(1 if counts["wrong"] else 0)
