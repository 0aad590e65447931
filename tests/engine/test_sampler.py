"""The sampler: masks, top_p, seeds and log-probabilities, row by row."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_sdk.engine.sampler import Draw, Drawn, SampledToken, Sampler, SamplingParams, TokenMask, _uniform
from kimi_sdk.engine.stats import Meter
from kimi_sdk.errors import ConfigError, EngineError


class SetMask:
    """Allows a fixed set of tokens, always."""

    finished = False

    def __init__(self, allowed: set[int]) -> None:
        self.allowed = allowed

    def fill(self, row: torch.Tensor) -> None:
        words = np.zeros(len(row), dtype=np.uint32)
        for token in self.allowed:
            words[token // 32] |= np.uint32(1 << token % 32)
        row.copy_(torch.from_numpy(words.view(np.int32)))

    def accept(self, token: int) -> None:
        assert token in self.allowed

    def forced(self) -> list[int]:
        return []


def sampler(vocab: int) -> Sampler:
    return Sampler(vocab=vocab, meter=Meter())


def draw(index: int = 0, mask: TokenMask | None = None, **params: object) -> Draw:
    sampling = SamplingParams(**params)  # type: ignore[arg-type]
    return Draw(sampling, sampling.seed or 0, index, mask)


def token(drawn: Drawn) -> SampledToken:
    assert isinstance(drawn, SampledToken)
    return drawn


def noise_logits(rows: int, vocab: int, seed: int = 0, scale: float = 3.0) -> torch.Tensor:
    return torch.randn(rows, vocab, generator=torch.Generator().manual_seed(seed)) * scale


def test_greedy_takes_the_best_and_reports_its_logprob() -> None:
    logits = noise_logits(3, 100)
    drawn = sampler(100).choose(logits, [draw(temperature=0, logprobs=n) for n in (0, 1, 5)])
    reference = logits.log_softmax(1)
    for row, (got, n) in enumerate(zip(drawn, (0, 1, 5), strict=True)):
        best = int(logits[row].argmax())
        assert token(got).id == best
        assert token(got).logprob == pytest.approx(float(reference[row, best]), abs=1e-6)
        order = reference[row].argsort(descending=True)[:n].tolist()
        assert [i for i, _ in token(got).top] == order
        assert not token(got).forced


def test_padding_is_never_chosen() -> None:
    logits = noise_logits(4, 128)
    logits[:, 100:] = 50.0
    for temperature in (0.0, 1.0):
        drawn = sampler(100).choose(logits, [draw(i, temperature=temperature, logprobs=20) for i in range(4)])
        assert all(token(d).id < 100 and all(i < 100 for i, _ in token(d).top) for d in drawn)


def test_top_logprobs_of_everything_sum_to_one_under_a_mask() -> None:
    allowed = set(range(3, 60, 7))
    got = token(
        sampler(64).choose(noise_logits(1, 64), [draw(mask=SetMask(allowed), seed=3, logprobs=64)])[0]
    )
    assert {i for i, _ in got.top} == allowed
    assert sum(math.exp(p) for _, p in got.top) == pytest.approx(1.0, abs=1e-5)
    assert dict(got.top)[got.id] == got.logprob


def reference_nucleus(logits: torch.Tensor, temperature: float, top_p: float) -> set[int]:
    """The definition, token by token, in fp64."""
    weights = (logits.double() / temperature).softmax(0).tolist()
    kept: set[int] = set()
    mass = 0.0
    for i in sorted(range(len(weights)), key=lambda i: -weights[i]):
        kept.add(i)
        mass += weights[i]
        if mass >= top_p:
            break
    return kept


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    top_p=st.floats(0.01, 0.98),
    temperature=st.floats(0.2, 3.0),
    vocab=st.sampled_from([40, 700]),
)
def test_top_p_draws_from_exactly_the_reference_set(
    seed: int, top_p: float, temperature: float, vocab: int
) -> None:
    logits = noise_logits(1, vocab, seed, scale=1.0)
    kept = reference_nucleus(logits[0], temperature, top_p)
    rows = 400
    draws = [draw(i, seed=seed, temperature=temperature, top_p=top_p) for i in range(rows)]
    seen = {token(d).id for d in sampler(vocab).choose(logits.expand(rows, -1), draws)}
    assert seen <= kept
    if len(kept) <= 5:
        probable = logits[0, list(kept)].double().div(temperature).softmax(0).min().item()
        assert seen == kept or probable < 0.03


def test_frequencies_follow_the_distribution() -> None:
    logits = torch.tensor([[2.0, 1.0, 0.0, -1.0, -torch.inf]])
    rows = 20_000
    drawn = sampler(5).choose(logits.expand(rows, -1), [draw(i, top_p=1.0, seed=5) for i in range(rows)])
    counts = Counter(token(d).id for d in drawn)
    for i, p in enumerate(logits[0].softmax(0).tolist()):
        assert counts[i] / rows == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / rows) + 1e-9)


def test_the_noise_is_uniform_and_differs_by_seed_index_and_token() -> None:
    words = torch.arange(200_000, dtype=torch.int64)
    values = _uniform(words)
    assert 0 < float(values.min()) < 1e-4
    assert 1 - 1e-4 < float(values.max()) < 1
    counts = torch.histc(values.float(), bins=50, min=0, max=1)
    assert float((counts - 4000).abs().max()) < 6 * math.sqrt(4000)
    flat = torch.zeros(1, 500)
    ids = {
        (seed, index): token(sampler(500).choose(flat, [draw(index, seed=seed, top_p=1.0)])[0]).id
        for seed in range(20)
        for index in range(20)
    }
    assert len(set(ids.values())) > 200


def test_a_rows_token_does_not_depend_on_its_neighbours() -> None:
    logits = noise_logits(8, 300)
    draws = [
        draw(
            i,
            mask=SetMask(set(range(0, 300, i + 2))) if i % 2 else None,
            seed=i,
            temperature=0.0 if i == 3 else 0.5 + i / 4,
            top_p=1.0 if i == 4 else 0.9,
            logprobs=i,
        )
        for i in range(8)
    ]
    together = sampler(300).choose(logits, draws)
    assert together == [sampler(300).choose(logits[i : i + 1], draws[i : i + 1])[0] for i in range(8)]


def test_a_single_allowed_token_is_taken_as_forced() -> None:
    got = sampler(70).choose(noise_logits(2, 70), [draw(mask=SetMask({69}), logprobs=3), draw(temperature=0)])
    assert got[0] == SampledToken(69, 0.0, ((69, 0.0),), True)
    assert not token(got[1]).forced


@pytest.mark.parametrize("poison", [math.nan, math.inf, -math.inf])
def test_broken_logits_fail_their_row_only(poison: float) -> None:
    logits = noise_logits(3, 50)
    logits[1, 7 if poison != -math.inf else slice(None)] = poison
    alone = sampler(50).choose(logits[2:], [draw(seed=1)])
    drawn = sampler(50).choose(logits, [draw(temperature=0), draw(seed=1), draw(seed=1)])
    assert isinstance(drawn[1], EngineError)
    assert token(drawn[0]).id == int(logits[0].argmax())
    assert drawn[2] == alone[0]


def test_masks_that_fail_or_allow_nothing_fail_their_row_only() -> None:
    class Broken(SetMask):
        def fill(self, row: torch.Tensor) -> None:
            raise ZeroDivisionError("boom")

    masks: list[TokenMask | None] = [SetMask(set()), Broken(set()), None]
    drawn = sampler(50).choose(noise_logits(3, 50), [draw(mask=m, temperature=0) for m in masks])
    assert isinstance(drawn[0], EngineError)
    assert isinstance(drawn[1], ZeroDivisionError)
    assert isinstance(drawn[2], SampledToken)


def test_allowed_tokens_without_any_probability_are_an_error() -> None:
    logits = noise_logits(1, 50)
    logits[0, :10] = -math.inf
    drawn = sampler(50).choose(logits, [draw(mask=SetMask({1, 2, 3}))])
    assert isinstance(drawn[0], EngineError)


@pytest.mark.parametrize("temperature", [1e-320, 1e-12, 1e6])
def test_extreme_temperatures_stay_numbers(temperature: float) -> None:
    logits = noise_logits(1, 50)
    got = token(sampler(50).choose(logits, [draw(temperature=temperature, seed=1)])[0])
    if temperature < 1:
        assert got.id == int(logits.argmax())


@pytest.mark.parametrize(
    "bad",
    [
        {"temperature": -1.0},
        {"temperature": math.nan},
        {"top_p": 0.0},
        {"top_p": 1.5},
        {"max_tokens": 0},
        {"logprobs": -1},
    ],
)
def test_bad_parameters_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(bad))):
        SamplingParams(**bad)  # type: ignore[arg-type]
