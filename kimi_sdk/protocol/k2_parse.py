"""Parses the turn that a K2 model writes: bare content, ``<think>`` tags and calls as JSON with wire ids.

Covers K2, K2-Thinking, K2.5, K2.6 and Kimi-Linear. Events and the parsed turn are those of K3's parser.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, get_args

from kimi_sdk.errors import ConfigError
from kimi_sdk.protocol.k2_call import K2CallReader, tool_name
from kimi_sdk.protocol.markers import MarkerSplitter
from kimi_sdk.protocol.segments import Start
from kimi_sdk.protocol.tokenizer import Tokenizer
from kimi_sdk.protocol.turn import (
    BlankStart,
    ContentPiece,
    Diagnostics,
    EventQueue,
    ParsedTurn,
    ReasoningPiece,
    TurnEvent,
    TurnFold,
)

K2Start: TypeAlias = Literal["think", "content", "response", "idle"]
K2State: TypeAlias = Literal["think", "content", "section", "id", "arguments", "after", "done"]
_Marker: TypeAlias = Literal[
    "think", "end_think", "section", "end_section", "call", "arguments", "end_call", "end"
]

_MARKERS: dict[str, _Marker] = {
    "<think>": "think",
    "</think>": "end_think",
    "<|tool_calls_section_begin|>": "section",
    "<|tool_calls_section_end|>": "end_section",
    "<|tool_call_section_begin|>": "section",
    "<|tool_call_section_end|>": "end_section",
    "<|tool_call_begin|>": "call",
    "<|tool_call_argument_begin|>": "arguments",
    "<|tool_call_end|>": "end_call",
    "<|im_end|>": "end",
}


class K2TurnParser:
    """Parses one turn while it is written. Use either ``push_token`` or ``push_text``, then ``finish``."""

    def __init__(
        self,
        *,
        start: K2Start,
        tokenizer: Tokenizer | None = None,
        tools: Iterable[str] | None = None,
        tools_declared: bool = True,
    ) -> None:
        """Starts a turn.

        Args:
            start: ``"think"`` if the prompt ended inside ``<think>``; ``"content"``, ``"response"`` and
                ``"idle"`` all mean that it did not.
            tokenizer: of family ``"k2"``, needed for ``push_token``.
            tools: names of the declared tools, to read damaged ids; ``None`` when they are not known.
            tools_declared: without tools calls are swallowed.

        Raises:
            ConfigError: an unknown ``start``, or a tokenizer of another family.
        """
        if start not in get_args(K2Start):
            raise ConfigError(f"start must be one of {get_args(K2Start)}, not {start!r}.")
        if tokenizer is not None and tokenizer.family != "k2":
            raise ConfigError("K2's parser needs a tokenizer loaded with family='k2'.")
        self.state: K2State = "think" if start == "think" else "content"
        self.complete = False
        self._tools = None if tools is None else frozenset(tools)
        self._tools_declared = tools_declared
        self._tokenizer = tokenizer
        self._decoder = tokenizer.decoder() if tokenizer is not None else None
        known = tokenizer.specials if tokenizer is not None else {}
        self._by_id = {known[spelling]: marker for spelling, marker in _MARKERS.items() if spelling in known}
        # With ids, only spellings that have no id of their own are looked for in ordinary text.
        self._splitter = MarkerSplitter([spelling for spelling in _MARKERS if spelling not in known])
        self._events = EventQueue()
        self._fold = TurnFold()
        self._diagnostics = Diagnostics()
        self._call: K2CallReader | None = None
        self._opened = 0
        self._closed = 0
        self._id = ""
        self._content = BlankStart()
        self._reasoning_begun = False

    @property
    def done(self) -> bool:
        """Whether the message has ended; everything after is ignored."""
        return self.state == "done"

    def push_token(self, token: int) -> list[TurnEvent]:
        """Events of one more token.

        Raises:
            ConfigError: the parser has no tokenizer, or the token lies outside its vocabulary.
        """
        if self._tokenizer is None or self._decoder is None:
            raise ConfigError("push_token needs K2TurnParser(tokenizer=...).")
        marker = self._by_id.get(token)
        if marker is not None:
            self._split(self._decoder.finish())
            self._flush()
            self._marker(marker, self._tokenizer.token_bytes(token).decode())
        elif token >= self._tokenizer.base_size:
            name = self._tokenizer.token_bytes(token).decode()
            self._diagnostics.note(f"Ignored special token {name}.")
        else:
            self._split(self._decoder.push(token))
        return self._taken()

    def push_text(self, text: str) -> list[TurnEvent]:
        """Events of more text."""
        self._split(text)
        return self._taken()

    def finish(self) -> list[TurnEvent]:
        """Events of the end of the stream: half a marker is dropped, a call counts if its JSON is whole."""
        if self._splitter.pending != "<" or self.state == "arguments":
            self._splitter.pending = ""
        self._flush()
        if self.state != "done":
            self._end(complete=False)
        return self._taken()

    def turn(self) -> ParsedTurn:
        """Everything so far, added up."""
        return self._fold.turn(complete=self.complete, diagnostics=self._diagnostics.notes)

    def _taken(self) -> list[TurnEvent]:
        events = self._events.take()
        self._fold.add(events)
        return events

    def _split(self, text: str) -> None:
        for is_marker, piece in self._splitter.push(text):
            if is_marker and not self._quoted():
                self._marker(_MARKERS[piece], piece)
            else:
                self._text(piece)

    def _quoted(self) -> bool:
        """Whether a marker spelled in ordinary tokens stands inside a JSON string, where it is only text."""
        return self._tokenizer is not None and self._call is not None and self._call.in_string

    def _flush(self) -> None:
        pending, self._splitter.pending = self._splitter.pending, ""
        if pending:
            self._text(pending)

    def _marker(self, marker: _Marker, spelled: str) -> None:
        if self.state == "done":
            return
        if marker in ("think", "end_think"):
            self._think_tag(marker, spelled)
        elif marker == "end":
            self._end(complete=True)
        elif marker == "section":
            self._end_call(closed=False)
            self.state = "section"
        elif marker == "end_section" and self.state in ("section", "id", "arguments"):
            self._end_call(closed=False)
            self.state = "after"
        elif marker == "call":
            self._end_call(closed=False)
            if self.state == "id":
                self._diagnostics.note(f"Dropped the beginning of a call: {self._id[:80]!r}.")
            self.state, self._id = "id", ""
        elif marker == "arguments" and self.state == "id":
            self._open_call()
        elif marker == "end_call" and self.state in ("id", "arguments"):
            self._end_call(closed=True)
            self.state = "section"
        else:
            self._diagnostics.note(f"Ignored {spelled} in {self.state}.")

    def _think_tag(self, marker: _Marker, spelled: str) -> None:
        if self.state == "arguments":
            self._text(spelled)
        elif marker == "end_think" and self.state == "think":
            self.state = "content"
        elif marker == "think" and self.state == "content" and not self._content.begun:
            self._content.take()
            self.state = "think"
        elif marker == "think" and self.state in ("think", "content") and self._begun():
            self._text(spelled)
        else:
            self._diagnostics.note(f"Dropped {spelled} in {self.state}.")

    def _begun(self) -> bool:
        return self._reasoning_begun if self.state == "think" else self._content.begun

    def _text(self, text: str) -> None:
        if self.state == "think":
            self._reasoning_begun |= not text.isspace()
            self._events.put(ReasoningPiece(text))
        elif self.state == "content":
            self._say(text)
        elif self.state == "id":
            self._id += text
        elif self.state == "arguments":
            if self._call is not None:
                self._call.text(text)
        elif self.state != "done" and text.strip():
            self._diagnostics.note(f"Dropped text in {self.state}.")

    def _say(self, text: str) -> None:
        certain = self._content.push(text)
        if certain:
            self._events.put(ContentPiece(certain))

    def _open_call(self) -> None:
        self.state = "arguments"
        wire_id = self._id.strip()
        name = tool_name(wire_id, self._tools)
        if not self._tools_declared:
            self._diagnostics.note("Swallowed a call: no tools were declared.")
        elif name is None:
            self._diagnostics.note(f"Dropped a call whose id names no tool: {wire_id[:80]!r}.")
        else:
            self._call = K2CallReader(self._events, self._opened, name, wire_id)
            self._opened += 1

    def _end_call(self, *, closed: bool) -> None:
        call, self._call = self._call, None
        if call is not None and call.close(closed=closed):
            self._closed += 1

    def _end(self, *, complete: bool) -> None:
        self._end_call(closed=False)
        if self._content.held and not self._closed:
            self._events.put(ContentPiece(self._content.take()))
        self.state, self.complete = "done", complete


def parse_k2(
    source: str | Iterable[int],
    *,
    start: K2Start,
    tools: Iterable[str] | None = None,
    tools_declared: bool = True,
    tokenizer: Tokenizer | None = None,
) -> ParsedTurn:
    """Parses a whole turn: its text, or its token ids (these need ``tokenizer``)."""
    parser = K2TurnParser(start=start, tokenizer=tokenizer, tools=tools, tools_declared=tools_declared)
    if isinstance(source, str):
        parser.push_text(source)
    else:
        for token in source:
            parser.push_token(token)
    parser.finish()
    return parser.turn()


def start_of_k2(ids: Sequence[int], tokenizer: Tokenizer) -> Start:
    """The state that a prompt leaves open, read from the last of its ids that tells.

    ``"think"`` inside an open thought, ``"response"`` elsewhere in a message, ``"idle"`` between messages.
    """
    starts: dict[str, Start] = {
        "<think>": "think",
        "</think>": "response",
        "<|im_middle|>": "response",
        "<|im_end|>": "idle",
    }
    specials = tokenizer.specials
    told = {specials[name]: start for name, start in starts.items() if name in specials}
    return next((told[token] for token in reversed(ids) if token in told), "idle")
