"""What a parser says about one assistant turn: a stream of small events, and the whole turn they add up to.

Shared by K3's and K2's parser. Ids of calls are not made here: K3 has none on the wire, K2's are ``wire_id``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kimi_sdk.events import FinishReason


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """One complete call.

    Attributes:
        index: order of appearance, from 0.
        name: of the tool, declared or not.
        args: the arguments as values; ``None`` when the text is not a JSON object.
        arguments: the arguments as JSON text; numbers keep the spelling the model gave them.
        recovered: whether a missing closer had to be assumed.
        wire_id: the id on the wire, ``""`` where the format has none.
    """

    index: int
    name: str
    args: Mapping[str, Any] | None
    arguments: str
    recovered: bool = False
    wire_id: str = ""


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ContentPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkSkipped:
    """The model answered inside its think channel: all reasoning so far is void and follows as content."""


@dataclass(frozen=True, slots=True)
class CallOpened:
    index: int
    name: str
    wire_id: str = ""


@dataclass(frozen=True, slots=True)
class ArgumentPiece:
    """More of one call's arguments.

    Attributes:
        index: of the call.
        key: the argument's name, ``""`` between arguments and where the arguments are one JSON text.
        text: more of the value as the model wrote it.
        json: more of the JSON text of all arguments; these add up to ``ParsedCall.arguments``.
    """

    index: int
    key: str
    text: str
    json: str


@dataclass(frozen=True, slots=True)
class CallClosed:
    call: ParsedCall


@dataclass(frozen=True, slots=True)
class CallDropped:
    """The call that was opened last was cut off; what was said of its arguments stays incomplete."""

    index: int


TurnEvent: TypeAlias = (
    ReasoningPiece | ContentPiece | ThinkSkipped | CallOpened | ArgumentPiece | CallClosed | CallDropped
)


@dataclass(frozen=True, slots=True)
class ParsedTurn:
    """One assistant turn.

    Attributes:
        reasoning: the thoughts, ``None`` when there are none.
        content: the answer, ``None`` when it is empty.
        calls: the complete calls, in order.
        finish: why the turn ended; ``"length"`` when it was cut off.
        diagnostics: what was unusual and how it was read.
    """

    reasoning: str | None
    content: str | None
    calls: tuple[ParsedCall, ...]
    finish: FinishReason
    diagnostics: tuple[str, ...] = ()


class TurnFold:
    """Adds up events."""

    def __init__(self) -> None:
        self._reasoning: list[str] = []
        self._content: list[str] = []
        self._calls: list[ParsedCall] = []
        self._dropped = False

    def add(self, events: Iterable[TurnEvent]) -> None:
        for event in events:
            if isinstance(event, ReasoningPiece):
                self._reasoning.append(event.text)
            elif isinstance(event, ContentPiece):
                self._content.append(event.text)
            elif isinstance(event, ThinkSkipped):
                self._reasoning.clear()
            elif isinstance(event, CallClosed):
                self._calls.append(event.call)
            elif isinstance(event, CallDropped):
                self._dropped = True

    def turn(self, *, complete: bool, diagnostics: Iterable[str] = ()) -> ParsedTurn:
        """The turn so far; ``complete`` says whether its end was seen."""
        finish: FinishReason = "stop" if complete else "length"
        if self._calls and not (self._dropped and not complete):
            finish = "tool_calls"
        return ParsedTurn(
            "".join(self._reasoning) or None,
            "".join(self._content) or None,
            tuple(self._calls),
            finish,
            tuple(diagnostics),
        )


class EventQueue:
    """Collects the events of one push; neighbours of a kind become one."""

    def __init__(self) -> None:
        self._events: list[TurnEvent] = []
        self._kind: type[ReasoningPiece] | type[ContentPiece] = ContentPiece
        self._texts: list[str] = []

    def put(self, event: TurnEvent) -> None:
        if isinstance(event, (ReasoningPiece, ContentPiece)):
            if not isinstance(event, self._kind):
                self._join()
                self._kind = type(event)
            self._texts.append(event.text)
        else:
            self._join()
            self._events.append(event)

    def take(self) -> list[TurnEvent]:
        self._join()
        events, self._events = self._events, []
        return events

    def _join(self) -> None:
        if self._texts:
            self._events.append(self._kind("".join(self._texts)))
            self._texts = []


class BlankStart:
    """Holds the blanks that content begins with until more comes: blank content is none beside calls."""

    def __init__(self) -> None:
        self.held: list[str] = []
        self.begun = False

    def push(self, text: str) -> str:
        """The content that is certain by now."""
        if self.begun:
            return text
        self.held.append(text)
        if not text.strip():
            return ""
        self.begun = True
        return self.take()

    def take(self) -> str:
        """What is held, which is then forgotten."""
        text = "".join(self.held)
        self.held.clear()
        return text


class Diagnostics:
    """What was unusual: the first few of it, each once."""

    MOST = 50

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        if len(self.notes) < self.MOST and text not in self.notes:
            self.notes.append(text)


def quoted(text: str) -> str:
    """Text as the inside of a JSON string, without its quotes; pieces may be joined."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def strict_json(text: str) -> bool:
    """Whether ``text`` is one JSON value; ``NaN`` and ``Infinity`` are not."""
    try:
        json.loads(text, parse_constant=_refuse, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True


def json_object(text: str) -> dict[str, Any] | None:
    """The object that ``text`` spells, ``None`` when it spells none."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> str:
    raise ValueError(f"{constant} is not JSON.")
