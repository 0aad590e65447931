"""From token ids to the events and the message of a turn; stop strings end it.

Knows what the parser's pieces are called outside. Leaves the wire format to ``protocol``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING

from kimi_sdk.backend import TurnEvent
from kimi_sdk.events import CallArgsDelta, CallReady, CallStarted, ReasoningDelta, TextDelta
from kimi_sdk.messages import Message, ToolCall

if TYPE_CHECKING:
    from kimi_sdk.protocol.segments import Start
    from kimi_sdk.protocol.tokenizer import Tokenizer
    from kimi_sdk.protocol.turn import CallOpened, ParsedCall
    from kimi_sdk.protocol.turn import TurnEvent as Piece


class StopScanner:
    """Passes text on up to the first of the stop strings; holds back what may be the beginning of one."""

    def __init__(self, stop: tuple[str, ...]) -> None:
        self._stop = stop
        self._held = ""
        self.stopped = False

    def push(self, text: str) -> str:
        """The part of the text that is certain to come before every stop string."""
        if not self._stop or self.stopped:
            return "" if self.stopped else text
        held = self._held + text
        found = [place for place in (held.find(stop) for stop in self._stop) if place >= 0]
        if found:
            self.stopped, self._held = True, ""
            return held[: min(found)]
        keep = max((_overlap(held, stop) for stop in self._stop), default=0)
        self._held = held[len(held) - keep :]
        return held[: len(held) - keep]

    def finish(self) -> str:
        """What was held back and is no stop string after all."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, stop: str) -> int:
    """How many characters at the end of the text begin the stop string."""
    return next(
        (size for size in range(min(len(stop) - 1, len(text)), 0, -1) if text.endswith(stop[:size])), 0
    )


class TurnReader:
    """Reads a turn that was asked for with messages.

    Attributes:
        thinking_tokens: tokens of thought so far; the markers that close the channel are none.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        start: Start,
        tools_declared: bool,
        step: int,
        stop: tuple[str, ...],
        tools: Sequence[str] | None = None,
        taken: Iterable[str] = (),
    ) -> None:
        from kimi_sdk.protocol.dialect import parser_for, thought_ends

        self._parser = parser_for(tokenizer, start=start, tools=tools, tools_declared=tools_declared)
        self.thinking_tokens = 0
        self._thinking = start == "think"
        self._thought_ends = thought_ends(tokenizer)
        self._step = step
        self._scanner = StopScanner(stop)
        self._ids: dict[int, str] = {}
        self._taken = set(taken)
        self._reasoning: list[str] = []
        self._text: list[str] = []
        self._calls: list[ToolCall] = []

    @property
    def stopped(self) -> bool:
        """Whether a stop string has ended the turn."""
        return self._scanner.stopped

    def push(self, token: int) -> list[TurnEvent]:
        """The events that one more token gives."""
        self._thinking = self._thinking and token not in self._thought_ends
        self.thinking_tokens += self._thinking
        return self._read(self._parser.push_token(token))

    def finish(self) -> list[TurnEvent]:
        """The events of the end."""
        events = [] if self.stopped else self._read(self._parser.finish())
        return events + self._say(self._scanner.finish())

    def message(self) -> Message:
        """The whole turn as a message."""
        return Message.assistant("".join(self._text), reasoning="".join(self._reasoning), calls=self._calls)

    def _read(self, pieces: Iterable[Piece]) -> list[TurnEvent]:
        from kimi_sdk.protocol import turn

        events: list[TurnEvent] = []
        for piece in pieces:
            if self.stopped:
                break
            if isinstance(piece, turn.ReasoningPiece):
                self._reasoning.append(piece.text)
                events.append(ReasoningDelta(self._step, piece.text))
            elif isinstance(piece, turn.ContentPiece):
                events += self._say(self._scanner.push(piece.text))
            elif isinstance(piece, turn.CallOpened):
                self._ids[piece.index] = self._new_id(piece)
                self._taken.add(self._ids[piece.index])
                events.append(CallStarted(self._step, self._ids[piece.index], piece.name))
            elif isinstance(piece, turn.ArgumentPiece):
                if piece.text:
                    events.append(CallArgsDelta(self._step, self._ids[piece.index], piece.key, piece.text))
            elif isinstance(piece, turn.CallClosed):
                self._calls.append(self._call(piece.call))
                events.append(CallReady(self._step, self._calls[-1]))
        return events

    def _say(self, text: str) -> list[TurnEvent]:
        if not text:
            return []
        self._text.append(text)
        return [TextDelta(self._step, text)]

    def _new_id(self, call: CallOpened) -> str:
        """An id that no other call of the conversation has: K2's own, which its model knows, or ours."""
        if call.wire_id and call.wire_id not in self._taken:
            return call.wire_id
        ours = (f"{call.name}:{call.index + 1}:{number}" for number in count(self._step))
        return next(one for one in ours if one not in self._taken)

    def _call(self, call: ParsedCall) -> ToolCall:
        # Arguments that are no JSON object cannot pass the grammar; should they, the tool refuses them.
        args = {"arguments": call.arguments} if call.args is None else dict(call.args)
        return ToolCall(self._ids[call.index], call.name, args, call.index + 1)


class RawReader:
    """Reads the continuation of a raw prompt: text, in which markers show as their spelling."""

    thinking_tokens = 0

    def __init__(self, tokenizer: Tokenizer, stop: tuple[str, ...]) -> None:
        self._decoder = tokenizer.decoder()
        self._end = tokenizer.stop_id
        self._scanner = StopScanner(stop)
        self._text: list[str] = []

    @property
    def stopped(self) -> bool:
        """Whether a stop string has ended the text."""
        return self._scanner.stopped

    def push(self, token: int) -> list[TurnEvent]:
        """The text that one more token completes."""
        return [] if token == self._end else self._say(self._scanner.push(self._decoder.push(token)))

    def finish(self) -> list[TurnEvent]:
        """What was held back."""
        if self.stopped:
            return []
        return self._say(self._scanner.push(self._decoder.finish()) + self._scanner.finish())

    def message(self) -> Message:
        """The whole text as an assistant message."""
        return Message.assistant("".join(self._text))

    def _say(self, text: str) -> list[TurnEvent]:
        if not text:
            return []
        self._text.append(text)
        return [TextDelta(1, text)]
