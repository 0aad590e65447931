"""One call while it is being read: its typed elements become JSON text and values, piece by piece."""

from __future__ import annotations

import json
from typing import Any, Literal

from kimi_sdk.protocol.turn import (
    ArgumentPiece,
    CallClosed,
    CallDropped,
    CallOpened,
    EventQueue,
    ParsedCall,
    json_object,
    quoted,
    strict_json,
)


class CallReader:
    """Receives the elements of one call and puts its events.

    Strings stream as they come; other values wait until they are closed, because only then it is known
    whether they are JSON (copied as spelled) or not (written as a string).
    """

    def __init__(self, events: EventQueue, index: int, name: str) -> None:
        self._events = events
        self._index = index
        self._name = name
        self._form: Literal["none", "elements", "json"] = "none"
        self._written: list[str] = []
        self._args: dict[str, Any] = {}
        self._key: str | None = None
        self._string = True
        self._value: list[str] = []
        events.put(CallOpened(index, name))

    def open_argument(self, key: str | None, kind: str) -> bool:
        """Starts an argument; ``False`` when it has no key or comes beside a JSON block, and is skipped."""
        if key is None or self._form == "json":
            self._key = None
            return False
        prefix = "{" if self._form == "none" else ","
        self._form = "elements"
        self._key, self._string, self._value = key, kind == "string", []
        self._prefix = f'{prefix}"{quoted(key)}":'
        if self._string:
            self._put(key, "", self._prefix + '"')
        return True

    def argument_text(self, text: str) -> None:
        if self._key is None:
            return
        self._value.append(text)
        if self._string:
            self._put(self._key, text, quoted(text))

    def close_argument(self) -> None:
        key, self._key = self._key, None
        if key is None:
            return
        raw = "".join(self._value)
        if self._string:
            self._args[key] = raw
            self._put(key, "", '"')
            return
        lexeme = raw.strip()
        if strict_json(lexeme):
            self._args[key] = _value_of(lexeme)
            self._put(key, lexeme, self._prefix + lexeme)
        else:
            self._args[key] = raw
            self._put(key, raw, f'{self._prefix}"{quoted(raw)}"')

    def open_json(self) -> bool:
        """Starts a block that is the arguments' JSON text; ``False`` when there are arguments already."""
        if self._form != "none":
            self._key = None
            return False
        self._form = "json"
        self._key, self._string = "", True
        return True

    def json_text(self, text: str) -> None:
        if self._key is not None and text:
            self._put("", text, text)

    def close_json(self) -> None:
        self._key = None

    def close(self, *, recovered: bool) -> None:
        """Completes the call."""
        args: dict[str, Any] | None = self._args
        if self._form == "elements":
            self._put("", "", "}")
        elif self._form == "none" or not "".join(self._written).strip():
            self._put("", "", "{}")
        else:
            args = json_object("".join(self._written))
        arguments = "".join(self._written)
        self._events.put(CallClosed(ParsedCall(self._index, self._name, args, arguments, recovered)))

    def drop(self) -> None:
        """Gives the call up: it was cut off."""
        self._events.put(CallDropped(self._index))

    def _put(self, key: str, text: str, written: str) -> None:
        self._written.append(written)
        self._events.put(ArgumentPiece(self._index, key, text, written))


def _value_of(lexeme: str) -> Any:
    try:
        return json.loads(lexeme)
    except ValueError:
        # Python refuses to convert integers of several thousand digits; their spelling is kept.
        return lexeme
