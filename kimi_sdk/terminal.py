"""A run as people read it on a terminal: thoughts dimly, each call with its result, the answer, what it cost.

Knows colours and one-line spellings. Leaves arguments and exit codes to ``cli``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from kimi_sdk.events import (
    CallFinished,
    CallProgress,
    CallReady,
    Event,
    ReasoningDelta,
    StepStarted,
    TextDelta,
)
from kimi_sdk.messages import ToolCall, ToolResult
from kimi_sdk.settings import Usage

_STYLES = {"dim": "2", "bold": "1", "call": "36", "result": "32", "error": "31"}
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"
_LONGEST = 400


class Printer:
    """Writes events as they come.

    Args:
        out: where to; stdout by default.
        colour: whether to use escape codes; ``None`` asks the terminal, NO_COLOR and FORCE_COLOR.
    """

    def __init__(self, out: TextIO | None = None, *, colour: bool | None = None) -> None:
        self._out = sys.stdout if out is None else out
        self._colour = _wants_colour(self._out) if colour is None else colour
        self._kind: type[Event] | None = None
        self._calls: dict[str, ToolCall] = {}

    def event(self, event: Event) -> None:
        """Writes one event; those that say nothing to people are passed over."""
        if isinstance(event, StepStarted):
            self._end_line()
            self._calls.clear()
        elif isinstance(event, (ReasoningDelta, TextDelta)):
            if self._kind is not type(event):
                self._end_line()
                self._kind = type(event)
                self._write(_DIM if self._colour and isinstance(event, ReasoningDelta) else "")
            self._write(event.text)
        elif isinstance(event, CallReady):
            self._calls[event.call.id] = event.call
            self.line(self.styled(f"→ {spell_call(event.call)}", "call"))
        elif isinstance(event, CallProgress):
            self.line(self.styled(f"  {event.text}", "dim"))
        elif isinstance(event, CallFinished):
            name = f"{event.result.name}: " if len(self._calls) > 1 else ""
            style = "error" if event.result.is_error else "result"
            took = self.styled(f"  ({event.seconds:.1f} s)", "dim") if event.seconds >= 1 else ""
            self.line(self.styled(f"← {name}{spell_result(event.result)}", style) + took)

    def line(self, text: str = "") -> None:
        """Writes a line of its own."""
        self._end_line()
        self._write(f"{text}\n")

    def finish(self) -> None:
        """Ends the line that is being written."""
        self._end_line()

    def styled(self, text: str, style: str) -> str:
        """The text in a style, where the terminal has colours."""
        return f"\x1b[{_STYLES[style]}m{text}{_PLAIN}" if self._colour and text else text

    def _end_line(self) -> None:
        if self._kind is not None:
            self._write(f"{_PLAIN}\n" if self._colour and self._kind is ReasoningDelta else "\n")
            self._kind = None

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def spell_call(call: ToolCall) -> str:
    """A call on one line: ``convert_units(value=3, from_unit="km", to_unit="mi")``."""
    args = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in call.args.items())
    return _shortened(f"{call.name}({args})")


def spell_result(result: ToolResult) -> str:
    """A result on one line, images by their size."""
    parts = [part.text if hasattr(part, "text") else repr(part) for part in result.content]
    return _shortened(" ".join(" ".join(parts).split())) or "(nothing)"


def spell_output(output: Any) -> str:
    """An answer: text as it is, anything else as JSON."""
    if isinstance(output, str):
        return output
    return json.dumps(plain(output), ensure_ascii=False, indent=2)


def plain(value: Any) -> Any:
    """A value as JSON's types."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(dict(value) if isinstance(value, Mapping) else value, fallback=str)


def spell_usage(usage: Usage, seconds: float) -> str:
    """What a run cost, on one line; ``seconds`` is the time that the model took."""
    rate = f"{usage.output_tokens / seconds:.0f} tok/s" if seconds > 0 else "- tok/s"
    return (
        f"prompt {usage.prompt_tokens} (cached {usage.cached_tokens}) · output {usage.output_tokens} "
        f"(thinking {usage.thinking_tokens}, forced {usage.forced_tokens}) · {usage.steps} "
        f"step{'s' * (usage.steps != 1)} · {usage.tool_calls} call{'s' * (usage.tool_calls != 1)} · {rate}"
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _wants_colour(out: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or out.isatty()
