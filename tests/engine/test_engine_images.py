"""Images in prompts: features stand where their tokens are, however the prompt is cut."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from engine_kit import answer, assert_idle, ids, prompt

from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.engine import Engine, ImageSpan, Request
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.sampler import SamplingParams
from kimi_sdk.errors import ConfigError, EngineError
from kimi_sdk.vision.preprocess import Patches

SIZES = ((4, 4), (2, 6), (6, 8))


@cache
def seeing() -> K3:
    return K3(K3Config.tiny(vision=True), seed=3).fuse()


def engine(**settings: int) -> Engine:
    return Engine(seeing(), **{"slots": 3, "pages": 16, **settings})


def image(rows: int, columns: int, seed: int) -> Patches:
    pixels = torch.rand(rows * columns, 3, 14, 14, generator=torch.Generator().manual_seed(seed)) * 2 - 1
    return Patches(pixels, (1, rows, columns), (columns * 14, rows * 14))


def asked(seed: int = 0, gap: int = 5) -> Request:
    """Three images with text between them."""
    tokens, spans = prompt(gap, seed), []
    for rows, columns in SIZES:
        spans.append(ImageSpan(len(tokens), image(rows, columns, seed)))
        tokens += [7] * (rows * columns // 4) + prompt(gap, seed + 1)
    return Request(ids=tokens, images=spans, sampling=SamplingParams(temperature=0.0, max_tokens=10))


def test_features_are_written_over_the_embeddings_at_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[torch.Tensor] = []
    forward = K3.forward

    def watch(model: K3, hidden: torch.Tensor, *rest: object) -> torch.Tensor:
        seen.append(hidden.clone())
        return forward(model, hidden, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(K3, "forward", watch)
    on, request = engine(step_tokens=7), asked()
    answer(on, request)
    on.close()
    hidden = torch.cat(seen)[: len(request.ids)]
    with torch.inference_mode():
        expected = seeing().embed(torch.tensor(request.ids))
        for span, (rows, columns) in zip(request.images, SIZES, strict=True):
            features = seeing().image_features(span.patches.pixels, [span.patches.grid])
            expected[span.start : span.start + rows * columns // 4] = features
    torch.testing.assert_close(hidden, expected, rtol=1e-4, atol=1e-5)


def test_answers_depend_on_the_image_and_not_on_the_cuts_or_the_neighbours() -> None:
    on = engine()
    answers = {seed: ids(answer(on, asked(seed))) for seed in range(3)}
    on.close()
    for step_tokens in (4, 9, 64):
        on = engine(step_tokens=step_tokens)
        generations = {seed: on.submit(asked(seed)) for seed in answers}
        for seed, generation in generations.items():
            assert [t.id for tokens in generation for t in tokens] == answers[seed]
            assert generation.usage.image_tokens == sum(rows * columns // 4 for rows, columns in SIZES)
        assert_idle(on)
        on.close()
    one, other = asked(0), asked(0)
    other = Request(
        ids=one.ids,
        images=[ImageSpan(s.start, image(*s.patches.grid[1:], seed=9)) for s in one.images],
        sampling=one.sampling,
    )
    on = engine()
    assert answer(on, one)[0].logprob != answer(on, other)[0].logprob
    on.close()


def test_misplaced_images_are_refused() -> None:
    on = engine()
    picture = image(4, 4, 0)
    sampling = SamplingParams(max_tokens=1)
    for spans in (
        [ImageSpan(7, picture)],
        [ImageSpan(0, picture), ImageSpan(3, picture)],
        [ImageSpan(-1, picture)],
    ):
        with pytest.raises(ConfigError, match="overlap"):
            on.submit(Request(ids=[7] * 10, images=spans, sampling=sampling))
    short = Patches(picture.pixels[:-1], picture.grid, picture.size)
    odd = Patches(picture.pixels[:15], (1, 3, 5), picture.size)
    for bad in (short, odd):
        with pytest.raises(ConfigError, match="merges 2x2"):
            on.submit(Request(ids=[7] * 10, images=[ImageSpan(0, bad)], sampling=sampling))
    on.close()


def test_a_model_without_a_tower_refuses_images() -> None:
    on = Engine(K3(K3Config.tiny(vision=False), seed=0), slots=1, pages=2)
    with pytest.raises(ConfigError, match="no vision tower"):
        on.submit(Request(ids=[7] * 10, images=[ImageSpan(0, image(4, 4, 0))]))
    on.close()


def test_a_tower_that_breaks_fails_its_own_request_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> torch.Tensor:
        raise RuntimeError("no memory left")

    monkeypatch.setattr(K3, "image_features", broken)
    on = engine()
    text = on.submit(Request(ids=prompt(5), sampling=SamplingParams(max_tokens=5)))
    with pytest.raises(EngineError, match="no memory left"):
        answer(on, asked())
    assert sum(len(tokens) for tokens in text) == 5
    assert_idle(on)
    on.close()
