"""Random turns under a grammar's mask: any token that is allowed may come, closing ones more often later."""

from __future__ import annotations

import random

import numpy as np
import torch

from kimi_sdk.protocol import Tokenizer
from kimi_sdk.protocol.grammar import TurnGrammar
from kimi_sdk.protocol.matcher import TurnMatcher


class Walker:
    """Writes turns that a model without any sense would write."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._row = torch.zeros((tokenizer.vocab_size + 31) // 32, dtype=torch.int32)
        ends = {tokenizer.encode(sign)[0] for sign in '"}]'}
        self._ends = [*ends, tokenizer.close_id]

    def allowed(self, mask: TurnMatcher) -> list[int]:
        """The tokens of the next mask."""
        self._row.fill_(-1)
        mask.fill(self._row)
        bits = np.unpackbits(self._row.numpy().view(np.uint8), bitorder="little")
        return [int(token) for token in bits.nonzero()[0]]

    def turn(self, grammar: TurnGrammar, seed: int, *, soft: int = 40, hard: int = 1500) -> list[int] | None:
        """The ids of one finished turn; ``None`` for one that would have become longer than ``hard``."""
        draw = random.Random(seed)
        mask, ids = grammar.matcher(), []
        while not mask.finished:
            forced, allowed = mask.forced(), self.allowed(mask)
            assert allowed, f"nothing may follow {self.tokenizer.decode(ids)!r}"
            if forced:
                assert forced[0] in allowed
                if draw.random() < 0.5:
                    for token in forced:
                        assert token in self.allowed(mask)
                        mask.accept(token)
                    ids += forced
                    continue
            ends = [token for token in self._ends if token in allowed] if len(ids) > soft else []
            token = draw.choice(ends) if ends and draw.random() < 0.8 else draw.choice(allowed)
            mask.accept(token)
            ids.append(token)
            if len(ids) > hard:
                return None
        return ids

    def write(self, mask: TurnMatcher, text: str) -> bool:
        """Moves past a text whose markers are control tokens; ``False`` at the first token refused."""
        for token in self.tokenizer.encode(text, special=True):
            if mask.finished or token not in self.allowed(mask):
                return False
            mask.accept(token)
        return True
