"""The built-in tools as models see them; the bundled model was trained on exactly this."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from kimi_sdk.messages import ToolCall
from kimi_sdk.settings import Limits, Usage
from kimi_sdk.tools import RunContext
from kimi_sdk.tools.builtin import builtin_tools
from kimi_sdk.tools.execute import execute

ARGUMENTS = {
    "calculate": {"expression": "string"},
    "convert_units": {"value": "number", "from_unit": "string", "to_unit": "string"},
    "shift_date": {"date": "string", "amount": "integer", "unit": "string"},
    "days_between": {"start": "string", "end": "string"},
    "day_of_week": {"date": "string"},
    "shift_time": {"time": "string", "minutes": "integer"},
    "current_time": {},
    "country_facts": {"country": "string", "fact": "string"},
    "define_word": {"word": "string"},
    "save_note": {"title": "string", "text": "string"},
    "read_note": {"title": "string"},
    "list_notes": {},
    "read_file": {"path": "string"},
    "list_files": {"path": "string"},
    "search_files": {"query": "string", "path": "string"},
}


def test_names_arguments_and_size() -> None:
    tools = builtin_tools()
    found = {
        made.name: {name: member["type"] for name, member in made.parameters["properties"].items()}
        for made in tools
    }
    assert found == ARGUMENTS
    assert list(found) == list(ARGUMENTS)
    declared = json.dumps([made.declaration for made in tools], separators=(",", ":"))
    assert len(declared) < 5000
    assert all(made.description and made.description.count("\n") == 0 for made in tools)
    optional = {
        made.name
        for made in tools
        if set(made.parameters["properties"]) - set(made.parameters.get("required", ()))
    }
    assert optional == {"list_files", "search_files"}


@pytest.mark.anyio
async def test_they_run_as_calls(tmp_path: Path) -> None:
    (tmp_path / "hello.txt").write_text("hello\n", "utf-8")
    tools = {
        made.name: made for made in builtin_tools(tmp_path, now=lambda: datetime.datetime(2026, 1, 2, 3, 4))
    }

    async def run(name: str, **args: object) -> tuple[str, bool]:
        call = ToolCall("id", name, args, 1)
        ctx: RunContext[None] = RunContext(deps=None, usage=Usage(), limits=Limits(), messages=(), call=call)
        result = await execute(tools[name], call, ctx)
        return result.text, result.is_error

    assert await run("calculate", expression="6 * 7") == ("42", False)
    assert await run("calculate", expression="1 / 0") == ("Division by zero.", True)
    assert await run("convert_units", value=20, from_unit="km", to_unit="miles") == ("12.4274 miles", False)
    assert await run("days_between", start="2026-01-01", end="2026-01-31") == ("30", False)
    assert await run("current_time") == ("2026-01-02 03:04", False)
    assert await run("read_file", path="hello.txt") == ("hello\n", False)
    assert await run("list_files") == ("hello.txt", False)
    assert await run("save_note", title="a", text="b") == ("Saved.", False)
    assert await run("list_notes") == ("a", False)
    text, failed = await run("shift_date", date="2026-01-01", amount=1, unit="decades")
    assert failed
    assert "'days', 'weeks', 'months' or 'years'" in text
    text, failed = await run("country_facts", country="France", fact="anthem")
    assert failed
    assert "fact" in text


def test_each_set_has_its_own_notes() -> None:
    one, two = ({made.name: made for made in builtin_tools()} for _ in range(2))
    one["save_note"]("a", "b")
    assert one["list_notes"]() == "a"
    assert two["list_notes"]() == "There are no notes yet."


def test_importing_tools_needs_no_heavy_library() -> None:
    heavy = ("torch", "griffe", "PIL", "numpy", "outlines", "jsonschema")
    code = f"""
import sys
import kimi_sdk.tools
assert "pydantic" not in sys.modules
from kimi_sdk.tools.builtin import builtin_tools
from kimi_sdk.tools.execute import execute
builtin_tools()
print([name for name in {heavy!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_one_loop_after_another() -> None:
    made = builtin_tools()[0]
    call = ToolCall("id", "calculate", {"expression": "1 + 1"}, 1)

    async def once() -> str:
        ctx: RunContext[None] = RunContext(deps=None, usage=Usage(), limits=Limits(), messages=(), call=call)
        return (await execute(made, call, ctx)).text

    assert [anyio.run(once), anyio.run(once, backend="trio"), anyio.run(once)] == ["2", "2", "2"]
