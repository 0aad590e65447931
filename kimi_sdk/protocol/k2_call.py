"""One K2 call while it is being read: the tool that its id names, and its arguments made legal JSON."""

from __future__ import annotations

import re
from collections.abc import Set

from kimi_sdk.protocol.turn import (
    ArgumentPiece,
    CallClosed,
    CallDropped,
    CallOpened,
    EventQueue,
    ParsedCall,
    json_object,
    quoted,
)

_PREFIX = "functions."
_NUMBERED = re.compile(r"(.+):\d+", re.DOTALL)
_NAMELESS = re.compile(r"(?:call)?_?\d*")
_STRINGS = re.compile(r'["\\\x00-\x1f]')


def tool_name(wire_id: str, tools: Set[str] | None) -> str | None:
    """The tool that an id names, ``None`` when it names none.

    Args:
        wire_id: as written, normally ``functions.NAME:N``.
        tools: names of the declared tools, ``None`` when they are not known. A well-formed id may name
            another tool; a damaged one only a declared one.
    """
    numbered = _NUMBERED.fullmatch(wire_id)
    name = (numbered.group(1) if numbered else wire_id).removeprefix(_PREFIX)
    well_formed = numbered is not None or wire_id.startswith(_PREFIX)
    if tools is None:
        return name if name and (well_formed or not _NAMELESS.fullmatch(name)) else None
    if name in tools:
        return name
    if name.rpartition(".")[2] in tools:
        return name.rpartition(".")[2]
    loose = name.removeprefix("functions").lstrip("._: ")
    for candidate in (loose, loose.rstrip("0123456789").rstrip("._: ")):
        if candidate in tools:
            return candidate
    return name if name and well_formed and not _NAMELESS.fullmatch(name) else None


class K2CallReader:
    """Receives the arguments of one call and puts its events.

    Blanks around the JSON are cut; raw control characters inside its strings become escapes, everything
    else is copied.
    """

    def __init__(self, events: EventQueue, index: int, name: str, wire_id: str) -> None:
        self._events = events
        self._index = index
        self._name = name
        self._wire_id = wire_id
        self._written: list[str] = []
        self._blanks: list[str] = []
        self._in_string = False
        self._escaped = False
        events.put(CallOpened(index, name, wire_id))

    @property
    def in_string(self) -> bool:
        """Whether the arguments so far end inside a JSON string."""
        return self._in_string

    def text(self, text: str) -> None:
        """More of the arguments."""
        if not self._written:
            text = text.lstrip()
        legal = self._legal(text)
        kept = legal if self._in_string else legal.rstrip()
        if kept:
            self._put("".join((*self._blanks, kept)))
            self._blanks.clear()
        if len(kept) < len(legal):
            self._blanks.append(legal[len(kept) :])

    def _legal(self, text: str) -> str:
        pieces = []
        begin = 0
        for match in _STRINGS.finditer(text):
            at, found = match.start(), match.group()
            if self._escaped and at > begin:
                self._escaped = False
            pieces.append(text[begin:at])
            begin = at + 1
            if self._escaped:
                self._escaped = False
                # A backslash before a raw control character: together they become that character's escape.
                pieces.append(quoted(found)[1:] if found < " " else found)
            elif found == '"':
                self._in_string = not self._in_string
                pieces.append(found)
            elif found == "\\":
                self._escaped = self._in_string
                pieces.append(found)
            else:
                pieces.append(quoted(found) if self._in_string else found)
        if begin < len(text):
            self._escaped = False
        return "".join((*pieces, text[begin:]))

    def _put(self, text: str) -> None:
        if text:
            self._written.append(text)
            self._events.put(ArgumentPiece(self._index, "", text, text))

    def close(self, *, closed: bool) -> bool:
        """Ends the call; without its closer (``closed``) it counts only if its JSON is complete."""
        if closed and not self._written:
            self._put("{}")
        arguments = "".join(self._written)
        args = json_object(arguments)
        if args is None and not closed:
            self._events.put(CallDropped(self._index))
            return False
        call = ParsedCall(self._index, self._name, args, arguments, not closed, self._wire_id)
        self._events.put(CallClosed(call))
        return True
