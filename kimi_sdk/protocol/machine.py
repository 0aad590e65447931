"""The states of one K3 turn: what text and markers mean, wherever they come from.

Receives text and markers that the front ends of ``parse`` have told apart; puts events. Every rule about
malformed output lives here and in ``header`` and ``call``.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Literal, TypeAlias

from kimi_sdk.protocol.call import CallReader
from kimi_sdk.protocol.header import TAGS, Header, read, viable, viable_length
from kimi_sdk.protocol.segments import Start
from kimi_sdk.protocol.turn import (
    BlankStart,
    ContentPiece,
    Diagnostics,
    EventQueue,
    ReasoningPiece,
    ThinkSkipped,
)

Marker: TypeAlias = Literal["open", "close", "sep", "end"]
SkippedThink: TypeAlias = Literal["content", "reasoning"]
State: TypeAlias = Literal[
    "idle", "think", "after_think", "response", "epilogue", "tools", "call", "argument", "json", "done"
]

SPELLING: dict[Marker, str] = {
    "open": "<|open|>",
    "close": "<|close|>",
    "sep": "<|sep|>",
    "end": "<|end_of_msg|>",
}
THINK_OPENER = "<|open|>think<|sep|>"

_INSIDE_ARGUMENT = frozenset({"argument", "call", "tools", "message"})
_INSIDE_JSON = frozenset({"json", "call", "tools", "message"})


class TurnMachine:
    """Reads one turn.

    Attributes:
        state: where the machine stands.
        complete: whether the end of the message was seen.
        events: what has been read since they were last taken.
        diagnostics: what was unusual.
    """

    def __init__(self, *, start: Start, tools_declared: bool, skipped_think: SkippedThink) -> None:
        self.state: State = start
        self.complete = False
        self.events = EventQueue()
        self.diagnostics = Diagnostics()
        self._tools_declared = tools_declared
        self._header: tuple[Literal["open", "close"], str] | None = None
        self._call: CallReader | None = None
        self._opened = 0
        self._closed = 0
        # Start of a prefilled think channel, held while it may be a repeated opener; None once it is past.
        self._opener: str | None = "" if start == "think" else None
        # What a prefilled think channel holds, kept while it may turn out to be the answer.
        self._unmarked: list[str] | None = [] if start == "think" and skipped_think == "content" else None
        self._skipped = False
        self._leading = True
        self._start = BlankStart()

    @property
    def in_header(self) -> bool:
        """Whether a marker has been opened whose name is still incomplete."""
        return self._header is not None

    # Input

    def text(self, text: str) -> None:
        """Ordinary text, in pieces of any length."""
        if not text or self.state == "done":
            return
        if self._header is None:
            self._body(text)
            return
        kind, spelled = self._header
        spelled += text
        if viable(spelled, self._tags()):
            self._header = kind, spelled
        else:
            self._header = None
            self._not_a_header(kind, spelled)

    def marker(self, marker: Marker) -> None:
        """One of the four structural tokens."""
        if self.state == "done" or self._ends_spelled_opener(marker):
            return
        if self._header is not None:
            kind, spelled = self._header
            self._header = None
            header = read(spelled, self._tags())
            ending = SPELLING["sep"] if marker == "sep" else ""
            if header is None and marker == "end":
                # As at the end of the stream: engines that strip the stop token must give the same turn.
                self.diagnostics.note(f"Dropped an incomplete {SPELLING[kind]}{spelled[:80]}.")
            elif header is None:
                self._not_a_header(kind, spelled, ending)
            else:
                if not ending:
                    self.diagnostics.note(f"{SPELLING[kind]}{spelled} has no {SPELLING['sep']}.")
                self._apply(kind, header, ending)
            if ending or self.done:
                return
        if marker == "end":
            self._end(complete=True)
        elif marker == "sep":
            self._literal(SPELLING["sep"])
        elif marker == "open" and self.state in ("argument", "json"):
            self._body(SPELLING["open"])
        else:
            self._header = marker, ""

    def finish(self) -> None:
        """The stream has ended; an incomplete marker is dropped."""
        if self.state == "done":
            return
        if self._opener == SPELLING["open"][0]:
            self._think("", flush=True)
        self._header = None
        self._end(complete=False)

    # Headers

    def _tags(self) -> Set[str]:
        if self.state == "argument":
            return _INSIDE_ARGUMENT
        return _INSIDE_JSON if self.state == "json" else TAGS

    def _not_a_header(self, kind: Literal["open", "close"], spelled: str, ending: str = "") -> None:
        if self.state in ("idle", "after_think") and self._leading:
            self.diagnostics.note(f"Dropped {SPELLING[kind]} before the answer.")
            self._body(spelled[viable_length(spelled, self._tags()) :])
        else:
            self._body(SPELLING[kind] + spelled + ending)

    def _ends_spelled_opener(self, marker: Marker) -> bool:
        if not self._opener:
            return False
        if marker == "sep" and self._opener.startswith("<|open|>think"):
            self._opener = None
            self._see_think("a repeated think opener")
            return True
        self._think("", flush=True)
        return False

    def _apply(self, kind: Literal["open", "close"], header: Header, ending: str) -> None:
        if self.state in ("argument", "json") and kind == "close":
            self._close_value()
            if header.tag in ("argument", "json"):
                return
            self.diagnostics.note(f"A value was ended by {SPELLING['close']}{header.tag}.")
            self._apply_close(header.tag)
        elif kind == "close":
            self._apply_close(header.tag)
        elif header.tag in ("think", "response", "tools"):
            self._open_channel(header.tag)
        elif header.tag == "call":
            self._open_call(header, ending)
        elif header.tag in ("argument", "json"):
            self._open_value(header)

    def _open_channel(self, tag: str) -> None:
        if self.state == "think" and tag == "think":
            self._see_think("a repeated think opener")
            return
        if tag == "tools" and self.state in ("tools", "call"):
            self._ignore("open", tag)
            return
        if self.state == "response" and tag == "response":
            self._ignore("open", tag)
            return
        self._end_call(recovered=True)
        self._skipped = False
        self._unmarked = None
        self._opener = None
        if tag == "think":
            self.state = "think"
        else:
            self.state = "response" if tag == "response" else "tools"

    def _open_call(self, header: Header, ending: str) -> None:
        if self.state == "think":
            self._body(SPELLING["open"] + header.text + ending)
            return
        self._end_call(recovered=True)
        self._skipped = False
        self.state = "call"
        name = header.attributes.get("tool", "")
        if not self._tools_declared:
            self.diagnostics.note("Swallowed a call: no tools were declared.")
        elif not name:
            self.diagnostics.note("Dropped a call without a tool name.")
        else:
            self._call = CallReader(self.events, self._opened, name)
            self._opened += 1

    def _open_value(self, header: Header) -> None:
        if self.state != "call":
            self._ignore("open", header.tag)
            return
        self.state = "argument" if header.tag == "argument" else "json"
        if self._call is None:
            return
        if header.tag == "json":
            taken = self._call.open_json()
        else:
            taken = self._call.open_argument(
                header.attributes.get("key"), header.attributes.get("type") or "string"
            )
        if not taken:
            self.diagnostics.note(f"Skipped a call's {header.tag} element.")

    def _apply_close(self, tag: str) -> None:
        state = self.state
        if tag == "message":
            self._end_call(recovered=True)
            self._end_think_by_closer()
            self._end(complete=True)
        elif tag == "response" and state in ("idle", "think", "after_think", "response"):
            self._end_think_by_closer()
            self.state = "epilogue"
        elif tag == "think" and state in ("idle", "think"):
            self._see_think("")
            self.state, self._leading = "after_think", True
        elif tag == "call" and state == "call":
            self._end_call(recovered=False)
            self.state = "tools"
        elif tag == "tools" and state in ("tools", "call"):
            self._end_call(recovered=True)
            self.state = "epilogue"
        else:
            self._ignore("close", tag)

    def _ignore(self, kind: Marker, tag: str) -> None:
        self.diagnostics.note(f"Ignored {SPELLING[kind]}{tag} in {self.state}.")

    # Channels

    def _body(self, text: str) -> None:
        state = self.state
        if state == "think":
            self._think(text)
        elif state == "response":
            self._content(text)
        elif state in ("idle", "after_think"):
            text = text.lstrip() if self._leading else text
            if text:
                self._leading = False
                self._content(text)
        elif state == "argument":
            if self._call is not None:
                self._call.argument_text(text)
        elif state == "json":
            if self._call is not None:
                self._call.json_text(text)
        elif text.strip():
            self.diagnostics.note(f"Dropped text in {state}.")

    def _literal(self, spelled: str) -> None:
        if self.state in ("idle", "after_think") and self._leading:
            self.diagnostics.note(f"Dropped {spelled} before the answer.")
        else:
            self._body(spelled)

    def _think(self, text: str, *, flush: bool = False) -> None:
        if self._opener is not None:
            held = self._opener + text
            if not flush and held != THINK_OPENER and THINK_OPENER.startswith(held):
                self._opener = held
                return
            self._opener = None
            if held.startswith(THINK_OPENER):
                self._see_think("a repeated think opener")
                held = held[len(THINK_OPENER) :]
            text = held
        if text:
            if self._unmarked is not None:
                self._unmarked.append(text)
            self.events.put(ReasoningPiece(text))

    def _see_think(self, note: str) -> None:
        self._unmarked = None
        if note:
            self.diagnostics.note(f"Dropped {note}.")

    def _end_think_by_closer(self) -> None:
        if self.state == "think" and self._unmarked is not None:
            self._skipped = True

    def _content(self, text: str) -> None:
        certain = self._start.push(text)
        if certain:
            self.events.put(ContentPiece(certain))

    def _close_value(self) -> None:
        if self._call is not None:
            if self.state == "argument":
                self._call.close_argument()
            else:
                self._call.close_json()
        self.state = "call"

    def _end_call(self, *, recovered: bool) -> None:
        if self.state != "call" or self._call is None:
            return
        self._call.close(recovered=recovered)
        self._closed += 1
        self._call = None

    def _end(self, *, complete: bool) -> None:
        if self._opener:
            # Only part of a repeated opener: whole it would have been dropped.
            self._opener = None
        if self._call is not None:
            self._call.drop()
            self._call = None
        if self._skipped and self._unmarked:
            self.diagnostics.note("The answer stood in the think channel.")
            self.events.put(ThinkSkipped())
            self.events.put(ContentPiece("".join(self._unmarked)))
        elif self._start.held and not self._closed:
            self.events.put(ContentPiece(self._start.take()))
        self.state, self.complete = "done", complete

    @property
    def done(self) -> bool:
        return self.state == "done"
