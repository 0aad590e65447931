"""The command: exit codes, one JSON object, what people see, Ctrl-C in a conversation."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import PIL.Image
import pytest
from tiny_folder import write_tiny

from kimi_sdk import Message, Model, Reasoning, ToolCall
from kimi_sdk.cli import main
from kimi_sdk.testing import ScriptedModel


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("models") / "tiny")


def script(monkeypatch: pytest.MonkeyPatch, *turns: Any) -> ScriptedModel:
    model = ScriptedModel(turns)
    monkeypatch.setattr(Model, "from_pretrained", lambda source: model)
    return model


CALL = Message(
    "assistant",
    (Reasoning("I have to compute."), ToolCall("calculate:1:1", "calculate", {"expression": "6*7"}, 1)),
)


def test_run_prints_thoughts_calls_results_and_the_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script(monkeypatch, CALL, "It is 42.")
    assert main(["run", "6 times 7?"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == ["I have to compute.", '→ calculate(expression="6*7")', "← 42", "It is 42."]
    assert "2 steps · 1 call · " in lines[4]


def test_run_json_is_one_object(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    script(monkeypatch, CALL, "It is 42.")
    assert main(["run", "6 times 7?", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"output", "reasoning", "calls", "usage"}
    assert report["output"] == "It is 42."
    assert report["reasoning"] == "I have to compute."
    assert report["calls"] == [
        {"name": "calculate", "args": {"expression": "6*7"}, "result": "42", "is_error": False}
    ]
    assert report["usage"]["steps"] == 2


def test_a_failed_run_is_one_object_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "integer"}')
    script(monkeypatch, "no number", "no number")
    assert main(["run", "go", "--json", "--schema", str(schema)]) == 1
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert report["error"]["type"] == "OutputError"
    assert report["usage"]["steps"] == 2
    assert "OutputError" in shown.err


@pytest.mark.parametrize("json_wanted", [True, False])
def test_a_call_that_needs_approval_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, json_wanted: bool
) -> None:
    (tmp_path / "careful_tools.py").write_text(
        "from kimi_sdk import tool\n\n@tool(approval=True)\n"
        'def erase(n: int) -> int:\n    """Erase."""\n    raise AssertionError\n'
    )
    monkeypatch.chdir(tmp_path)
    script(monkeypatch, [("erase", {"n": 4})])
    options = ["--json"] if json_wanted else []
    assert main(["run", "go", "--tools", "careful_tools:erase", *options]) == 1
    shown = capsys.readouterr()
    assert "need approval" in shown.err
    if json_wanted:
        report = json.loads(shown.out)
        call = {"name": "erase", "args": {"n": 4}, "result": None, "is_error": False}
        assert report["calls"] == [call]
        assert report["usage"]["steps"] == 1
    sys.modules.pop("careful_tools")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_output_in_any_encoding(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    text = "5 € \u2192 月 \ud800"
    for options in ([], ["--json"]):
        script(monkeypatch, CALL, text)
        out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", out)
        assert main(["run", "go", *options]) == 0
        out.flush()
        shown = out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
        if options:
            wanted = text.replace("\ud800", "?") if encoding == "utf-8" else text
            assert json.loads(shown)["output"] == wanted
        else:
            assert "5 " in shown


def test_a_task_that_is_no_utf8(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    model = script(monkeypatch, "Ok.")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hi \xff"), encoding="utf-8"))
    assert main(["run", "-", "--json"]) == 0
    assert model.requests[0].messages[0].text == "hi \ufffd"
    assert json.loads(capsys.readouterr().out)["output"] == "Ok."


def test_a_schema_nested_too_deeply_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text("[" * 100_000)
    script(monkeypatch)
    assert main(["run", "go", "--schema", str(schema)]) == 2
    assert "schema.json" in capsys.readouterr().err


def test_schema_gives_the_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object", "properties": {"x": {"type": "integer"}}}')
    script(monkeypatch, '{"x": 5}', '{"x": 5}')
    assert main(["run", "go", "--schema", str(schema), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["output"] == {"x": 5}
    assert main(["run", "go", "--schema", str(schema)]) == 0
    assert capsys.readouterr().out.startswith('{\n  "x": 5\n}\n')


def test_options_reach_the_turn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    picture = tmp_path / "dot.png"
    PIL.Image.new("RGB", (8, 8), "red").save(picture)
    model = script(monkeypatch, "Ok.")
    code = main(
        ["run", "What?", "--image", str(picture), "--no-thinking", "--seed", "7", "--tools", "none", "--json"]
    )
    assert code == 0
    (request,) = model.requests
    assert (request.sampling.thinking, request.sampling.seed, request.tools) == (False, 7, ())
    assert len(request.messages[0].parts) == 2


def test_own_functions_are_tools(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "own_tools.py").write_text(
        'def double(n: int) -> int:\n    """Double."""\n    return 2 * n\n'
    )
    monkeypatch.chdir(tmp_path)
    model = script(monkeypatch, [("double", {"n": 4})], "8")
    assert main(["run", "go", "--tools", "own_tools:double", "--tools", "builtin", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["calls"][0]["result"] == "8"
    assert len(model.requests[0].tools) > 10
    sys.modules.pop("own_tools")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "x", "--model", "no/such"], "no/such"),
        (["run", "x", "--image", "nothing.png"], "nothing.png"),
        (["run", "x", "--schema", "nothing.json"], "nothing.json"),
        (["run", "x", "--tools", "nonsense"], "module:function"),
        (["run", "x", "--tools", "no_such_module:f"], "no_such_module"),
        (["run", "x", "--tools", "math:pi"], "not a function"),
        (["run", "x", "--root", "no/such/folder"], "no/such/folder"),
        (["inspect", "no/such"], "no/such"),
    ],
)
def test_wrong_usage_is_2(
    tiny: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    if arguments[0] == "run" and "--model" not in arguments:
        arguments = [*arguments, "--model", str(tiny)]
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert len(shown.err.splitlines()) == 1
    assert shown.out == ""


@pytest.mark.parametrize("arguments", [[], ["dance"], ["run"], ["run", "x", "--seed", "many"]])
def test_argparse_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_a_checkpoint_on_disk_runs(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "Hello", "--model", str(tiny), "--tools", "none", "--seed", "1", "--json"]
    assert main(arguments) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["usage"]["output_tokens"] == 24
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out) == first


def test_a_damaged_checkpoint_is_a_failed_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_tiny(tmp_path / "damaged")
    (weights,) = folder.glob("*.safetensors")
    weights.write_bytes(weights.read_bytes()[:-100])
    assert main(["run", "Hello", "--model", str(folder), "--tools", "none"]) == 1
    assert "LoadError" in capsys.readouterr().err


def test_loading_draws_a_bar_when_asked(
    tiny: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIMI_SDK_PROGRESS", "1")
    assert main(["run", "Hello", "--model", str(tiny), "--tools", "none"]) == 0
    bar = capsys.readouterr().err
    assert "Loading" in bar
    assert "100%" in bar


def test_inspect(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from kimi_sdk.engine.config import K3Config
    from kimi_sdk.engine.k3 import K3

    assert main(["inspect", str(tiny), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    model = K3(K3Config.tiny())
    assert found["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    (weights,) = tiny.glob("*.safetensors")
    assert 0 <= weights.stat().st_size - found["bytes"] < 100_000
    caches = model.caches(slots=1, pages=1)
    assert found["cache_bytes_per_token"]["float32"] * 64 == caches.pages.bytes_per_page
    assert found["cache_bytes_per_sequence"]["float32"] == caches.slots.bytes_per_slot
    assert "other" not in found["parts"]
    assert main(["inspect", str(tiny)]) == 0
    shown = capsys.readouterr().out
    assert "KDA 1,2,3; MLA 4" in shown
    assert "routed experts" in shown


CHAT = """
import sys
from kimi_sdk import Model
from kimi_sdk.testing import FunctionModel
import kimi_sdk.testing as testing, kimi_sdk.cli as cli
count = lambda messages: f"{len(messages)} messages"
model = FunctionModel(lambda messages: "word " * 400 if messages[-1].text == "long" else count(messages))
model._backend.seconds_per_token = 0.02
Model.from_pretrained = classmethod(lambda cls, source: model)
sys.exit(cli.main(["chat", "--tools", "none"]))
"""


def test_chat_over_a_pipe() -> None:
    lines = "a\nb\n/reset\nc\n/help\n/what\n\n/quit\nnever\n"
    done = subprocess.run(
        [sys.executable, "-c", CHAT], input=lines, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if "messages" in line]
    assert said == ["1 messages", "3 messages", "1 messages"]
    assert "/reset" in done.stdout
    assert "There is no command /what" in done.stdout
    assert done.stderr == ""


ASKING = """
import sys
from kimi_sdk import Model, tool
from kimi_sdk.testing import ScriptedModel
import kimi_sdk.cli as cli

@tool(approval=True)
def order(item: str) -> str:
    return f"ordered {item}"

model = ScriptedModel([[("order", {"item": "tea"}), ("order", {"item": "car"})], "Done."])
Model.from_pretrained = classmethod(lambda cls, source: model)
cli._imported = lambda name: order
sys.exit(cli.main(["chat", "--tools", "own:order"]))
"""


def test_chat_asks_before_calls_that_need_approval() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASKING], input="go\ny\nn\n", capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert 'May this run? order(item="tea")' in done.stdout
    assert "Done." in done.stdout
    assert "1 call " in done.stdout


def test_ctrl_c_stops_the_turn_and_keeps_the_conversation() -> None:
    chat = subprocess.Popen(
        [sys.executable, "-u", "-c", CHAT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert chat.stdin is not None
    assert chat.stdout is not None
    assert chat.stderr is not None
    with chat:
        chat.stdin.write("first\nlong\n")
        chat.stdin.flush()
        while "word" not in (chat.stdout.read(5) or "word"):
            time.sleep(0.01)
        chat.send_signal(signal.SIGINT)
        chat.stdin.write("second\n")
        chat.stdin.close()
        rest = chat.stdout.read()
        errors = chat.stderr.read()
    assert chat.returncode == 0, errors
    assert "(stopped)" in rest
    assert "3 messages" in rest
    assert errors == ""
