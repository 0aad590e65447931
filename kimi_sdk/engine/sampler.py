"""From logits to one token a row: masks, temperature, top_p, seeds and log-probabilities.

Knows vocabularies and random numbers. Which sequence a row belongs to, and what follows from its token, is
left to ``sequence.py`` and ``engine.py``.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import torch

from kimi_sdk.engine.stats import Meter
from kimi_sdk.errors import ConfigError, EngineError

_WORD = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_NUCLEUS = (64, 1024)
"""How many tokens a nucleus is looked for among, before the whole row is sorted."""
_COLDEST = 1e30
"""Most that logits are multiplied by: beyond it all is greedy, and fp32 still holds the product."""
_NEVER = 1e-18
"""The noise lies in (-3.6, 36.8), so a token this much less probable than the best one can never win."""


class TokenMask(Protocol):
    """The tokens that may come next; one object a request, moved forward by the engine thread."""

    def fill(self, row: torch.Tensor) -> None:
        """Write the allowed tokens into ``row``, int32 ``[ceil(vocab / 32)]``: bit 1 is allowed."""

    def accept(self, token: int) -> None:
        """Move past ``token``. Raises ``EngineError`` if the language refuses it."""

    def forced(self) -> list[int]:
        """The tokens that must come next, possibly none; does not move the mask."""

    @property
    def finished(self) -> bool:
        """Whether the language has been completed, so that nothing may follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingParams:
    """How the tokens of one request are chosen.

    Attributes:
        temperature: 0 takes the most probable token.
        top_p: mass of the smallest set of most probable tokens to draw from, in (0, 1]; tokens as probable as
            the last of the set belong to it.
        seed: makes the tokens repeatable, whatever runs beside them; ``None`` draws a fresh one.
        max_tokens: most tokens to write; ``None`` is as many as the context or the engine's memory holds.
        stop_ids: tokens that end the generation; the one that did is its last token.
        logprobs: how many alternatives to report with every token.
    """

    temperature: float = 1.0
    top_p: float = 0.95
    seed: int | None = None
    max_tokens: int | None = None
    stop_ids: frozenset[int] = frozenset()
    logprobs: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature >= 0.0):
            raise ConfigError(f"SamplingParams.temperature must be at least 0, not {self.temperature!r}.")
        if not 0.0 < self.top_p <= 1.0:
            raise ConfigError(f"SamplingParams.top_p must lie in (0, 1], not {self.top_p!r}.")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ConfigError(f"SamplingParams.max_tokens must be at least 1, not {self.max_tokens!r}.")
        if self.logprobs < 0:
            raise ConfigError(f"SamplingParams.logprobs must not be negative: {self.logprobs!r}.")


@dataclass(frozen=True, slots=True)
class SampledToken:
    """One token of an answer.

    Attributes:
        id: the token.
        logprob: its natural log-probability among the allowed tokens, at temperature 1 and without top_p.
        top: the most probable allowed tokens with theirs, best first.
        forced: the mask allowed nothing else.
    """

    id: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()
    forced: bool = False

    @classmethod
    def only(cls, token: int, params: SamplingParams) -> SampledToken:
        """The token that was the only one allowed: certain, so its log-probability is 0."""
        return cls(token, 0.0, ((token, 0.0),) if params.logprobs else (), True)


@dataclass(frozen=True, slots=True)
class Draw:
    """One row's wish: ``seed`` and ``index`` (tokens written before this one) fix its random numbers."""

    params: SamplingParams
    seed: int
    index: int
    mask: TokenMask | None = None


Drawn: TypeAlias = SampledToken | Exception


def fresh_seed() -> int:
    """A seed nobody has chosen, 63 bits."""
    return secrets.randbits(63)


class Sampler:
    """Chooses one token a row. A row's token depends on its own logits, mask, seed and index only."""

    def __init__(self, *, vocab: int, meter: Meter) -> None:
        """``vocab`` is the number of real tokens; logits beyond it are padding that is never chosen."""
        self.vocab = vocab
        self._meter = meter
        self._words = torch.zeros((vocab + 31) // 32, dtype=torch.int32)

    def choose(self, logits: torch.Tensor, draws: Sequence[Draw]) -> list[Drawn]:
        """One token for each row.

        Args:
            logits: fp32 ``[rows, padded vocab]``.
            draws: one a row.

        Returns:
            For each row its token, or the error that this row alone fails with: an ``EngineError`` for logits
            that are not numbers and for an empty mask, or whatever the row's mask raised.
        """
        logits = logits[:, : self.vocab].float()
        sound = logits.logsumexp(dim=1).isfinite().tolist()
        drawn: list[Drawn | None] = [None] * len(draws)
        allowed: dict[int, torch.Tensor] = {}
        for row, draw in enumerate(draws):
            if not sound[row]:
                drawn[row] = EngineError(f"The model's logits for output token {draw.index} are not numbers.")
            elif draw.mask is not None:
                drawn[row] = self._masked(draw, row, allowed)
        rows = [row for row in range(len(draws)) if drawn[row] is None]
        if rows:
            with self._meter.sampling:
                picked = logits if len(rows) == len(draws) else logits[rows]
                chosen = _choose(picked, [draws[row] for row in rows], [allowed.get(row) for row in rows])
            for row, token in zip(rows, chosen, strict=True):
                drawn[row] = token
        return [token for token in drawn if token is not None]

    def _masked(self, draw: Draw, row: int, allowed: dict[int, torch.Tensor]) -> Drawn | None:
        """Fill the row's mask; a token at once where only one is allowed, or the error of this row."""
        assert draw.mask is not None
        try:
            with self._meter.mask:
                self._words.zero_()
                draw.mask.fill(self._words)
                bits = np.unpackbits(self._words.numpy().view(np.uint8), bitorder="little", count=self.vocab)
                count = int(np.count_nonzero(bits))
        except Exception as error:
            return error
        if count == 0:
            return EngineError(f"The mask allows no token at output token {draw.index}.")
        if count == 1:
            return SampledToken.only(int(bits.argmax()), draw.params)
        allowed[row] = torch.from_numpy(bits.view(np.bool_))
        return None


def _choose(
    logits: torch.Tensor, draws: Sequence[Draw], allowed: Sequence[torch.Tensor | None]
) -> list[Drawn]:
    """One token for each row of ``logits`` ``[rows, vocab]``, all of whose rows hold numbers."""
    if any(row is not None for row in allowed):
        free = torch.ones(logits.shape[1], dtype=torch.bool)
        keep = torch.stack([free if row is None else row for row in allowed]).to(logits.device)
        logits = logits.masked_fill(~keep, -torch.inf)
    logprobs = logits.log_softmax(dim=1)
    ids = logits.argmax(dim=1)
    warm = [row for row, draw in enumerate(draws) if draw.params.temperature > 0]
    if warm:
        part = logits if len(warm) == len(draws) else logits[warm]
        ids[warm] = _sample(part, [draws[row] for row in warm])
    values = logprobs.gather(1, ids[:, None])[:, 0].tolist()
    tops = _top(logprobs, [draw.params.logprobs for draw in draws])
    return [
        SampledToken(token, value, top)
        if math.isfinite(value)
        else EngineError(f"The model gives no allowed token a probability at output token {draw.index}.")
        for token, value, top, draw in zip(ids.tolist(), values, tops, draws, strict=True)
    ]


def _sample(logits: torch.Tensor, draws: Sequence[Draw]) -> torch.Tensor:
    """Ids ``[rows]`` drawn by the Gumbel-max trick from each row's temperature and top_p.

    The noise of a token is a hash of (seed, index, token id): it needs no state, and a token is only
    lost to rounding when two scores all but tie, so batches of other shapes draw the same tokens.
    """
    device = logits.device
    cold = torch.tensor([min(1 / draw.params.temperature, _COLDEST) for draw in draws], device=device)
    scaled = (logits - logits.amax(dim=1, keepdim=True)) * cold[:, None]
    weights = scaled.exp()
    mass = torch.tensor([draw.params.top_p for draw in draws], dtype=torch.float64, device=device)
    rows, tokens = (weights >= _threshold(weights, mass)).nonzero(as_tuple=True)
    keys = torch.tensor([_key(draw.seed, draw.index) for draw in draws], dtype=torch.int64, device=device)
    noise = -torch.log(-torch.log(_uniform(keys[rows] + tokens * _signed(_GOLDEN))))
    scores = torch.full(scaled.shape, -torch.inf, dtype=torch.float64, device=device)
    scores[rows, tokens] = scaled[rows, tokens].double() + noise
    return scores.argmax(dim=1)


def _threshold(weights: torch.Tensor, mass: torch.Tensor) -> torch.Tensor:
    """The weight ``[rows, 1]`` of the last token of each row's smallest set that reaches ``mass``.

    ``weights`` ``[rows, vocab]`` have 1 as their greatest; none below ``_NEVER`` gets in.
    """
    threshold = torch.full((len(weights), 1), _NEVER, dtype=weights.dtype, device=weights.device)
    cut = (mass < 1.0).nonzero()[:, 0]
    if not len(cut):
        return threshold
    part = weights if len(cut) == len(weights) else weights[cut]
    goal = mass[cut] * part.sum(dim=1, dtype=torch.float64)
    width = part.shape[1]
    for count in (*(n for n in _NUCLEUS if n < width), width):
        best = part.topk(count, dim=1).values
        reached = best.cumsum(dim=1, dtype=torch.float64) >= goal[:, None]
        if bool(reached.any(dim=1).all()):
            break
    # Rounding can leave the whole sum short of its own total: then every token with a weight stays in.
    last = torch.where(reached.any(dim=1), reached.int().argmax(dim=1), best.shape[1] - 1)
    threshold[cut] = best.gather(1, last[:, None]).clamp_min(_NEVER)
    return threshold


def _top(logprobs: torch.Tensor, wanted: Sequence[int]) -> list[tuple[tuple[int, float], ...]]:
    """For each row its ``wanted`` most probable ids with their log-probabilities, forbidden ones left out."""
    most = min(max(wanted), logprobs.shape[1])
    if most == 0:
        return [()] * len(wanted)
    values, ids = (part.tolist() for part in logprobs.topk(most, dim=1))
    return [
        tuple(
            (token, value)
            for token, value in zip(ids[row][:n], values[row][:n], strict=True)
            if value > -math.inf
        )
        for row, n in enumerate(wanted)
    ]


def _signed(word: int) -> int:
    """The 64-bit word as torch's int64 holds it."""
    return word - (1 << 64) if word >> 63 else word


def _key(seed: int, index: int) -> int:
    """Where the row's hash begins: SplitMix64's finaliser over seed and index, as an int64."""
    word = (seed * _GOLDEN + 1) & _WORD
    for part in (0, index + 1):
        word = (word + part * _GOLDEN) & _WORD
        word = ((word ^ (word >> 30)) * _MIX_1) & _WORD
        word = ((word ^ (word >> 27)) * _MIX_2) & _WORD
        word ^= word >> 31
    return _signed(word)


def _uniform(words: torch.Tensor) -> torch.Tensor:
    """Hash int64 words to fp64 numbers in (0, 1), by SplitMix64's finaliser (Steele, Lea, Flood 2014)."""
    words = (words ^ _shift(words, 30)) * _signed(_MIX_1)
    words = (words ^ _shift(words, 27)) * _signed(_MIX_2)
    words = words ^ _shift(words, 31)
    return (_shift(words, 12).double() + 0.5) * 2.0**-52


def _shift(words: torch.Tensor, bits: int) -> torch.Tensor:
    """Logical shift to the right: torch's own copies the sign bit of int64."""
    return (words >> bits) & ((1 << (64 - bits)) - 1)
