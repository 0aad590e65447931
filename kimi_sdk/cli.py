"""The command ``kimi-sdk``: run a task, chat, look at a model.

Knows argv, output and exit codes (0 ok, 1 the run failed, 2 wrong usage). Leaves all work to ``Agent``.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from kimi_sdk import __version__
from kimi_sdk.errors import ConfigError, KimiError, LoadError, RunError

if TYPE_CHECKING:
    from kimi_sdk.agent import Agent
    from kimi_sdk.messages import Message
    from kimi_sdk.result import RunResult
    from kimi_sdk.settings import Usage
    from kimi_sdk.terminal import Printer
    from kimi_sdk.tools.tool import AnyTool

OK, FAILED, USAGE = 0, 1, 2

_DEFAULT_MODEL = "k3-mini"


class _UsageError(Exception):
    """Something in argv that cannot be used."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        argv: arguments without the program's name; ``None`` takes the process's own.

    Returns:
        The exit code.
    """
    options = _parser().parse_args(argv)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a character that the terminal lacks must not end a run
    try:
        return int(options.command(options))
    except _UsageError as error:
        print(f"kimi-sdk: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("kimi-sdk: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kimi-sdk", description="Kimi K3 agents, with the model in this process."
    )
    parser.add_argument("--version", action="version", version=f"kimi-sdk {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="work on one task and print the answer")
    run.add_argument("task", metavar="TASK", help='what to do; "-" reads it from stdin')
    _add_agent_options(run)
    run.add_argument(
        "--image", metavar="FILE", action="append", default=[], help="an image to look at; repeatable"
    )
    run.add_argument("--schema", metavar="FILE", help="a JSON Schema that the answer must match")
    run.add_argument(
        "--json", action="store_true", help="print one JSON object: output, reasoning, calls, usage"
    )
    run.set_defaults(command=_run)
    chat = commands.add_parser("chat", help="talk with the model; Ctrl-C stops a turn, Ctrl-D leaves")
    _add_agent_options(chat)
    chat.set_defaults(command=_chat)
    look = commands.add_parser("inspect", help="show a model's layers, sizes and cache costs")
    look.add_argument("source", metavar="SOURCE", help="a folder, a bundled name, or a cached hub name")
    look.add_argument("--json", action="store_true", help="print one JSON object")
    look.set_defaults(command=_inspect)
    cut = commands.add_parser("slice", help="write chosen layers of a model as a model of their own")
    cut.add_argument("source", metavar="FOLDER", help="a folder, a bundled name, or a cached hub name")
    cut.add_argument(
        "--layers",
        metavar="N,N,...",
        required=True,
        help="layers to keep, counted from 0, in their new order",
    )
    cut.add_argument("--out", metavar="DIR", required=True, help="a new folder")
    cut.set_defaults(command=_slice)
    export = commands.add_parser("export-gguf", help="write a model as one GGUF file for llama.cpp")
    export.add_argument("source", metavar="SOURCE", help="a folder, a bundled name, or a cached hub name")
    export.add_argument("--out", metavar="FILE", required=True, help="the file to write")
    export.add_argument(
        "--storage",
        choices=["auto", "f32", "f16", "bf16"],
        default="auto",
        help="of matrices; auto keeps each as it is, MXFP4 experts too (default: auto)",
    )
    export.set_defaults(command=_export_gguf)
    return parser


def _add_agent_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        metavar="SOURCE",
        default=_DEFAULT_MODEL,
        help="a folder, a bundled name, or a cached hub name (default: %(default)s)",
    )
    parser.add_argument(
        "--tools",
        metavar="TOOLS",
        action="append",
        default=[],
        help="builtin (the default), none, or module:function; repeatable",
    )
    parser.add_argument(
        "--root", metavar="DIR", default=".", help="the folder that built-in file tools may read (default: .)"
    )
    parser.add_argument("--no-thinking", action="store_true", help="answer without thoughts")
    parser.add_argument("--seed", metavar="N", type=int, help="make the answer repeatable")


def _run(options: argparse.Namespace) -> int:
    from kimi_sdk.terminal import Printer

    agent = _agent(options, _schema(options.schema))
    text = sys.stdin.read() if options.task == "-" else options.task
    if not text.strip():
        _wrong("the task is empty")
    task = [*_images(options.image), text] if options.image else text
    try:
        if options.json:
            result = _answered(agent.run_sync(task))
            _print_json(_report(result.new_messages, result.usage, result.output))
            return OK
        return _printed(agent, task, Printer())
    except KimiError as error:
        if options.json:
            _print_json(_failure(error))
        print(f"kimi-sdk: {type(error).__name__}: {error}", file=sys.stderr)
        return FAILED
    finally:
        agent.model.close()


def _printed(agent: Agent[None, Any], task: Any, printer: Printer) -> int:
    """Runs an agent and prints what happens, while it happens."""
    from anyio.from_thread import start_blocking_portal

    from kimi_sdk.terminal import spell_output, spell_usage

    async def work() -> RunResult[Any]:
        await agent.model.start()
        async with agent.stream(task) as stream:
            async for event in stream:
                printer.event(event)
            return await stream.result()

    with start_blocking_portal() as portal:
        result = portal.call(work)
    printer.finish()
    _answered(result)
    if agent.constraint is not None:
        printer.line(spell_output(result.output))
    printer.line(printer.styled(spell_usage(result.usage, result.trace.seconds), "dim"))
    return OK


def _answered(result: RunResult[Any]) -> RunResult[Any]:
    """The result of a run that has come to its end. Raises RunError if it waits for a person's word."""
    if not result.pending:
        return result
    from kimi_sdk.terminal import spell_call

    waiting = ", ".join(spell_call(call) for call in result.pending)
    raise RunError(
        f"The run stopped before calls that need approval, and only `kimi-sdk chat` asks for it: {waiting}.",
        messages=result.messages,
        usage=result.usage,
        trace=result.trace,
    )


def _print_json(report: dict[str, Any]) -> None:
    """Prints one object, spelled so that no encoding of the output can damage it."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    print(json.dumps(report, ensure_ascii=not unicode))


def _chat(options: argparse.Namespace) -> int:
    from kimi_sdk.repl import Repl

    agent = _agent(options, None)
    try:
        return Repl(agent).run()
    except LoadError as error:
        print(f"kimi-sdk: LoadError: {error}", file=sys.stderr)
        return FAILED
    finally:
        agent.model.close()


def _inspect(options: argparse.Namespace) -> int:
    from kimi_sdk.inspection import inspect

    try:
        found = inspect(options.source)
    except LoadError as error:
        raise _UsageError(str(error)) from error
    print(json.dumps(found.to_dict(), indent=2) if options.json else found)
    return OK


def _export_gguf(options: argparse.Namespace) -> int:
    from kimi_sdk.export import export_gguf
    from kimi_sdk.progress import byte_bar

    try:
        with byte_bar(options.out) as progress:
            done = export_gguf(options.source, options.out, storage=options.storage, progress=progress)
    except (ConfigError, LoadError) as error:
        raise _UsageError(str(error)) from error
    left = f"; left out: {', '.join(done.left_out)}" if done.left_out else ""
    print(f"{done.path}: {done.architecture}, {done.tensors:,} tensors, {done.bytes:,} bytes{left}")
    return OK


def _slice(options: argparse.Namespace) -> int:
    from kimi_sdk.engine.slicing import slice_folder
    from kimi_sdk.progress import byte_bar
    from kimi_sdk.source import find

    try:
        layers = [int(part) for part in options.layers.split(",")]
    except ValueError:
        _wrong(f"--layers {options.layers}: numbers with commas between them are wanted, such as 0,1,2,3.")
    try:
        with byte_bar(f"Writing {options.out}") as progress:
            written = slice_folder(find(options.source), layers, options.out, progress=progress)
    except (ConfigError, LoadError) as error:
        raise _UsageError(str(error)) from error
    except OSError as error:
        raise _UsageError(f"--out {options.out}: {error}") from error
    print(f"{options.out}: {len(layers)} layers, {written:,} bytes of tensors")
    return OK


def _agent(options: argparse.Namespace, schema: Any) -> Agent[None, Any]:
    """The agent that the options describe. What is wrong with them is wrong usage."""
    from kimi_sdk.agent import Agent
    from kimi_sdk.model import Model

    try:
        model = Model.from_pretrained(options.model)
        sampling = replace(
            model.sampling,
            thinking=model.sampling.thinking and not options.no_thinking,
            seed=model.sampling.seed if options.seed is None else options.seed,
        )
        tools = _tools(options.tools, options.root)
        return Agent(model, tools=tools, output_type=str if schema is None else schema, sampling=sampling)
    except (ConfigError, LoadError) as error:
        raise _UsageError(str(error)) from error


def _tools(names: Sequence[str], root: str) -> list[AnyTool]:
    from kimi_sdk.tools.builtin import builtin_tools

    tools: list[AnyTool] = []
    for name in names or ["builtin"]:
        if name == "builtin":
            if not Path(root).is_dir():
                _wrong(f"--root {root}: there is no such folder.")
            tools += builtin_tools(root)
        elif name != "none":
            tools.append(_imported(name))
    return tools


def _imported(name: str) -> AnyTool:
    """The function that ``module:function`` names; modules of the current folder count."""
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        _wrong(f"--tools {name}: it is builtin, none, or module:function.")
    sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise _UsageError(f"--tools {name}: {error}") from error
    finally:
        sys.path.remove("")
    if not callable(found):
        _wrong(f"--tools {name}: it is {type(found).__name__}, not a function.")
    tool: AnyTool = found
    return tool


def _images(files: Sequence[str]) -> list[Any]:
    from kimi_sdk.vision.image import Image

    try:
        return [Image.from_path(file) for file in files]
    except (ConfigError, OSError) as error:
        raise _UsageError(f"--image: {error}") from error


def _schema(file: str | None) -> Any:
    if file is None:
        return None
    from kimi_sdk.output import JsonSchema

    try:
        return JsonSchema(json.loads(Path(file).read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise _UsageError(f"--schema {file}: {error}") from error


def _wrong(text: str) -> NoReturn:
    raise _UsageError(text)


def _report(messages: Sequence[Message], usage: Usage, output: Any) -> dict[str, Any]:
    """What ``--json`` prints."""
    from dataclasses import asdict

    from kimi_sdk.terminal import plain, spell_result

    results = {result.call_id: result for message in messages for result in message.results}
    calls = [call for message in messages for call in message.calls]
    return {
        "output": plain(output),
        "reasoning": "\n\n".join(message.reasoning for message in messages if message.reasoning),
        "calls": [
            {
                "name": call.name,
                "args": dict(call.args),
                "result": (result.text or spell_result(result)) if result else None,
                "is_error": bool(result and result.is_error),
            }
            for call in calls
            for result in [results.get(call.id)]
        ],
        "usage": asdict(usage),
    }


def _failure(error: KimiError) -> dict[str, Any]:
    """What ``--json`` prints when there is no answer: the same keys, and the error."""
    from kimi_sdk.settings import Usage

    done = error if isinstance(error, RunError) else None
    report = _report(done.messages if done else (), done.usage if done else Usage(), None)
    return {**report, "error": {"type": type(error).__name__, "message": str(error)}}
