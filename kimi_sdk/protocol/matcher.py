"""The mask of one request: a matcher of llguidance, and the exact bound on thoughts around it.

Knows token ids and bits; which texts are allowed is the grammar's matter.
"""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from kimi_sdk.errors import EngineError
from kimi_sdk.protocol.probe import sentence
from kimi_sdk.protocol.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

_INCOMPLETE = 3  # bytes that a UTF-8 character may still lack


class Vocabulary:
    """A tokenizer as the matcher sees it. Building one takes about a second: ``of`` keeps it.

    Attributes:
        matching: llguidance's tokenizer; its end token is ``<|end_of_msg|>``.
        close: id of ``<|close|>``.
        words: int32 words of one mask.
    """

    _known: ClassVar[weakref.WeakKeyDictionary[Tokenizer, Vocabulary]] = weakref.WeakKeyDictionary()
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, tokenizer: Tokenizer) -> None:
        from llguidance.tiktoken import lltokenizer_from_encoding

        self.matching = lltokenizer_from_encoding(
            tokenizer.encoding, n_vocab=tokenizer.vocab_size, eos_token=tokenizer.end_of_msg_id
        )
        self.close = tokenizer.close_id
        self.words = (tokenizer.vocab_size + 31) // 32
        # Only token bytes are kept from here on: a reference to the tokenizer would keep its key alive.
        self._bytes = [tokenizer.token_bytes(token) for token in range(tokenizer.base_size)]
        self._size = tokenizer.vocab_size
        self._tails: NDArray[np.int8] | None = None

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Vocabulary:
        """The vocabulary of ``tokenizer``, built once. May be called from any thread."""
        with cls._lock:
            known = cls._known.get(tokenizer)
            if known is None:
                known = cls._known[tokenizer] = cls(tokenizer)
            return known

    @property
    def tails(self) -> NDArray[np.int8]:
        """int8 ``[vocab]``: bytes that a character lacks after each token.

        A token of continuation bytes only has minus their number: they are taken off what was lacking.
        """
        if self._tails is None:
            import numpy as np

            tails = np.zeros(self._size, dtype=np.int8)
            tails[: len(self._bytes)] = [_tail(token) for token in self._bytes]
            self._tails = tails
        return self._tails


@dataclass
class Compiled:
    """A compiled grammar.

    Attributes:
        text: the grammar in llguidance's own form.
        first: an ``LLMatcher`` at its beginning. Its copies share their tables with it.
        broken: whether a matcher of it failed; the shared tables cannot be trusted after that.
    """

    text: str
    first: Any
    broken: bool = False


class TurnMatcher:
    """The tokens that may come next in one turn; implements the engine's ``TokenMask``.

    One per request, used by one thread at a time.
    """

    def __init__(
        self, vocabulary: Vocabulary, compiled: Compiled, *, thinking: bool, bound: int | None
    ) -> None:
        """Starts a turn.

        Args:
            vocabulary: of the model.
            compiled: the grammar of the turn.
            thinking: whether the turn begins inside the think channel.
            bound: tokens of thought after which the channel is closed; ``None`` for no bound.
        """
        self._vocabulary = vocabulary
        self._compiled = compiled
        self._matcher = compiled.first.deep_copy()
        self._bound = bound if thinking else None
        self._lacking = 0
        self._finished = False

    @property
    def finished(self) -> bool:
        """Whether the turn has been completed: nothing may follow."""
        return self._finished

    def fill(self, row: torch.Tensor) -> None:
        """Writes the allowed tokens: bit ``t % 32`` of word ``t // 32`` is 1 if token ``t`` may come next.

        Args:
            row: int32 ``[words]``, contiguous, on the CPU; words beyond the vocabulary become 0.

        Raises:
            EngineError: the turn is over, the row is too short, or the matcher failed.
        """
        words = self._vocabulary.words
        if self._finished or row.numel() < words:
            raise EngineError("A mask was asked for after its turn ended, or into a row that is too short.")
        if row.numel() > words:
            row[words:] = 0
        if self._bound == 0:
            row.zero_()
            self._allow(row, self._vocabulary.close)
            return
        self._matcher.unsafe_compute_mask_ptr(row.data_ptr(), words * 4)
        self._check()
        if self._bound is not None and self._bound <= _INCOMPLETE:
            self._keep_whole_characters(row[:words], self._bound - 1)

    def accept(self, token: int) -> None:
        """Moves past one token.

        Raises:
            EngineError: the token is not allowed here; the matcher cannot be used any more.
        """
        if self._finished:
            raise EngineError(f"Token {token} came after the turn had ended.")
        if self._bound == 0 and token != self._vocabulary.close:
            raise EngineError(f"Token {token} came after the last token of thought.")
        if not self._matcher.consume_token(token):
            self._check()
            raise EngineError(f"Token {token} is not allowed here.")
        if self._bound is not None:
            self._count(token)
        self._finished = self._matcher.is_stopped()
        if self._finished:
            self._check()

    def forced(self) -> list[int]:
        """The tokens that must come next, possibly none."""
        if self._finished:
            return []
        if self._bound == 0:
            closing = self._matcher.deep_copy()
            close = self._vocabulary.close
            if not closing.consume_token(close):
                raise EngineError(f"The think channel cannot be closed here: {closing.get_error()}")
            return [close, *closing.compute_ff_tokens()]
        tokens: list[int] = self._matcher.compute_ff_tokens()
        self._check()
        return tokens

    def _count(self, token: int) -> None:
        if token == self._vocabulary.close:
            self._bound = None
        elif self._bound is not None:
            self._bound -= 1
            tail = int(self._vocabulary.tails[token])
            self._lacking = tail if tail >= 0 else self._lacking + tail

    def _keep_whole_characters(self, row: torch.Tensor, left: int) -> None:
        """Forbids tokens after which a character could not be completed by ``left`` more tokens."""
        import numpy as np

        tails = self._vocabulary.tails
        lacking = np.where(tails >= 0, tails, tails + np.int8(self._lacking))
        bits = np.packbits(lacking <= left, bitorder="little")
        kept = np.zeros(row.numel() * 4, dtype=np.uint8)
        kept[: len(bits)] = bits
        mask = row.numpy()
        mask &= kept.view(np.int32)

    @staticmethod
    def _allow(row: torch.Tensor, token: int) -> None:
        bit = 1 << (token % 32)
        row[token // 32] = bit if bit < 2**31 else bit - 2**32

    def _check(self) -> None:
        if self._matcher.is_error():
            self._compiled.broken |= "panic" in self._matcher.get_error()
            raise EngineError(f"The grammar's matcher failed: {sentence(self._matcher.get_error())}.")


def _tail(token: bytes) -> int:
    """Bytes lacking after a token; minus its length if it is of continuation bytes only."""
    for back, byte in enumerate(reversed(token), start=1):
        if byte < 0x80:
            return 0
        if byte >= 0xC0:
            return max(0, (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) - back)
    return -len(token)
