"""A typed output while it is written: one event for each change of what the text so far stands for."""

from __future__ import annotations

from typing import Any

from kimi_sdk.events import OutputDelta, TextDelta
from kimi_sdk.output import Constraint


class Partial:
    """Turns the text pieces of one turn into ``OutputDelta`` events."""

    def __init__(self, constraint: Constraint[Any]) -> None:
        self._constraint = constraint
        self._text = ""
        self._value: Any = None

    def push(self, event: TextDelta) -> OutputDelta | None:
        """The event that a piece of text gives, if it changes the value."""
        self._text += event.text
        value = self._constraint.partial(self._text)
        if value is None or value == self._value:
            return None
        self._value = value
        return OutputDelta(event.step, value)
