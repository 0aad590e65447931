"""Parses the turn that a K3 model writes, from token ids (exact) or from text (where only text is to be had).

Two front ends over one ``TurnMachine``: with ids, only the special tokens are markers; with text, their
spellings are, so text that merely talks about markers cannot be told from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kimi_sdk.errors import ConfigError
from kimi_sdk.protocol.header import read
from kimi_sdk.protocol.machine import SPELLING, Marker, SkippedThink, State, TurnMachine
from kimi_sdk.protocol.markers import MarkerSplitter
from kimi_sdk.protocol.segments import Start
from kimi_sdk.protocol.tokenizer import Tokenizer
from kimi_sdk.protocol.turn import ParsedTurn, TurnEvent, TurnFold

_MARKER_OF: dict[str, Marker] = {spelling: marker for marker, spelling in SPELLING.items()}


class TurnParser:
    """Parses one turn while it is written. Use either ``push_token`` or ``push_text``, then ``finish``.

    The events of a turn are the same, up to where pieces are cut, however the turn is cut into pushes.
    """

    def __init__(
        self,
        *,
        start: Start,
        tokenizer: Tokenizer | None = None,
        tools_declared: bool = True,
        skipped_think: SkippedThink = "content",
    ) -> None:
        """Starts a turn.

        Args:
            start: the channel that the prompt left open (``Prompt.start``, or ``start_of`` its ids).
            tokenizer: needed for ``push_token``.
            tools_declared: without tools, or with tool_choice ``"none"``, calls are swallowed.
            skipped_think: what an answer inside the think channel becomes, when the channel was never closed.

        Raises:
            ConfigError: an unknown ``start`` or ``skipped_think``.
        """
        if start not in ("think", "response", "idle"):
            raise ConfigError(f"start must be 'think', 'response' or 'idle', not {start!r}.")
        if skipped_think not in ("content", "reasoning"):
            raise ConfigError(f"skipped_think must be 'content' or 'reasoning', not {skipped_think!r}.")
        self._machine = TurnMachine(start=start, tools_declared=tools_declared, skipped_think=skipped_think)
        self._splitter = MarkerSplitter(tuple(_MARKER_OF))
        self._tokenizer = tokenizer
        self._decoder = tokenizer.decoder() if tokenizer is not None else None
        self._markers = (
            {tokenizer.special(s): m for s, m in _MARKER_OF.items()} if tokenizer is not None else {}
        )
        self._fold = TurnFold()

    @property
    def state(self) -> State:
        """Where the turn stands: inside which channel or element."""
        return self._machine.state

    @property
    def done(self) -> bool:
        """Whether the message has ended; everything after is ignored."""
        return self._machine.done

    def push_token(self, token: int) -> list[TurnEvent]:
        """Events of one more token.

        Raises:
            ConfigError: the parser has no tokenizer, or the token lies outside its vocabulary.
        """
        if self._tokenizer is None or self._decoder is None:
            raise ConfigError("push_token needs TurnParser(tokenizer=...).")
        marker = self._markers.get(token)
        if marker is not None:
            self._machine.text(self._decoder.finish())
            self._machine.marker(marker)
        elif token >= self._tokenizer.base_size:
            name = self._tokenizer.token_bytes(token).decode()
            self._machine.diagnostics.note(f"Ignored special token {name}.")
        else:
            self._machine.text(self._decoder.push(token))
        return self._taken()

    def push_text(self, text: str) -> list[TurnEvent]:
        """Events of more text."""
        for is_marker, piece in self._splitter.push(text):
            if is_marker:
                self._machine.marker(_MARKER_OF[piece])
            else:
                self._machine.text(piece)
        return self._taken()

    def finish(self) -> list[TurnEvent]:
        """Events of the end of the stream. An incomplete marker, character or call is dropped."""
        if self._splitter.pending == "<" and not self._machine.in_header:
            self._machine.text("<")
        self._splitter.pending = ""
        self._machine.finish()
        return self._taken()

    def turn(self) -> ParsedTurn:
        """Everything so far, added up."""
        return self._fold.turn(complete=self._machine.complete, diagnostics=self._machine.diagnostics.notes)

    def _taken(self) -> list[TurnEvent]:
        events = self._machine.events.take()
        self._fold.add(events)
        return events


def parse(
    source: str | Iterable[int],
    *,
    start: Start,
    tools_declared: bool = True,
    tokenizer: Tokenizer | None = None,
    skipped_think: SkippedThink = "content",
) -> ParsedTurn:
    """Parses a whole turn.

    Args:
        source: its text, or its token ids (these need ``tokenizer``).
        start: the channel that the prompt left open.
        tools_declared: whether calls count.
        tokenizer: of the model that wrote the ids.
        skipped_think: what an answer inside the think channel becomes.
    """
    parser = TurnParser(
        start=start, tokenizer=tokenizer, tools_declared=tools_declared, skipped_think=skipped_think
    )
    if isinstance(source, str):
        parser.push_text(source)
    else:
        for token in source:
            parser.push_token(token)
    parser.finish()
    return parser.turn()


def start_of(ids: Sequence[int], tokenizer: Tokenizer) -> Start:
    """The channel that a prompt leaves open, read from the last header of its ids.

    A continued answer (text after the response opener) is ``"response"`` as well.
    """
    structural = {tokenizer.open_id, tokenizer.close_id, tokenizer.end_of_msg_id}
    last = next((at for at in range(len(ids) - 1, -1, -1) if ids[at] in structural), None)
    if last is None or ids[last] != tokenizer.open_id or tokenizer.sep_id not in ids[last:]:
        return "idle"
    header = read(tokenizer.decode(ids[last + 1 : ids.index(tokenizer.sep_id, last)]))
    if header is None or header.tag not in ("think", "response"):
        return "idle"
    return "think" if header.tag == "think" else "response"
