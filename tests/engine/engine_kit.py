"""What the engine's tests share: a tiny random model, masks for toys, and requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import torch

from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.engine import Engine, Request
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.sampler import SampledToken, SamplingParams, TokenMask

VOCAB = 500


@cache
def tiny() -> K3:
    """One tiny K3 with random weights; its logits differ enough that greedy answers have no ties."""
    return K3(K3Config.tiny(vision=False), seed=1).fuse()


def engine(**settings: object) -> Engine:
    """An engine on the tiny model, whose last ids count as padding."""
    return Engine(tiny(), **{"slots": 4, "pages": 32, "vocab": VOCAB, **settings})  # type: ignore[arg-type]


def prompt(length: int, seed: int = 0) -> list[int]:
    return torch.randint(0, VOCAB, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


def request(
    length: int = 10, *, mask: TokenMask | None = None, ids: Sequence[int] = (), **sampling: object
) -> Request:
    """A greedy request for 8 tokens, unless told otherwise."""
    base = SamplingParams(temperature=0.0, max_tokens=8)
    seed = sampling.get("seed")
    return Request(
        ids=ids or prompt(length, seed if isinstance(seed, int) else length),
        mask=mask,
        sampling=replace(base, **sampling),  # type: ignore[arg-type]
    )


def answer(on: Engine, asked: Request) -> list[SampledToken]:
    """The whole answer, read by a plain loop."""
    return [token for tokens in on.submit(asked) for token in tokens]


def alone(asked: Request, **settings: object) -> list[SampledToken]:
    """The whole answer of an engine that does nothing else."""
    on = engine(**settings)
    try:
        return answer(on, asked)
    finally:
        on.close()


def ids(tokens: Iterable[SampledToken]) -> list[int]:
    return [token.id for token in tokens]


def assert_idle(on: Engine) -> None:
    assert on.idle(), f"{on.active} requests are left, or slots and pages are held"


class ToyMask:
    """Allows at each position what ``allowed`` says of it; the language ends after ``length`` tokens."""

    def __init__(self, allowed: Callable[[int], set[int]], length: int = 10**9) -> None:
        self.allowed, self.length, self.position = allowed, length, 0
        self.seen: list[int] = []

    @property
    def finished(self) -> bool:
        return self.position >= self.length

    def fill(self, row: torch.Tensor) -> None:
        assert len(row) == (VOCAB + 31) // 32
        words = np.zeros(len(row), dtype=np.uint32)
        for token in self.allowed(self.position):
            words[token // 32] |= np.uint32(1 << token % 32)
        row.copy_(torch.from_numpy(words.view(np.int32)))

    def accept(self, token: int) -> None:
        assert not self.finished
        assert token in self.allowed(self.position)
        self.seen.append(token)
        self.position += 1

    def forced(self) -> list[int]:
        run = []
        for position in range(self.position, self.length):
            allowed = self.allowed(position)
            if len(allowed) != 1:
                break
            run += allowed
        return run


def stripes(length: int = 10**9, *, start: int = 0) -> ToyMask:
    """Runs of forced tokens between free choices: of every seven positions the last four are forced."""

    def allowed(position: int) -> set[int]:
        position += start
        return {(position * 37) % VOCAB} if position % 7 >= 3 else set(range(position % 5, VOCAB, 5))

    return ToyMask(allowed, length)
