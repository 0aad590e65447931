"""The training model is the engine's: same logits, and what it learns survives export, load and resume."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from kimi_sdk.engine import checkpoint
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.delta_rule import recurrent_step
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.moe import LatentMoE
from kimi_sdk.engine.mxfp4 import dequantize, quantize
from kimi_sdk.engine.presets import tiny
from training.attention import masked_attention
from training.data.document import Document, Picked, pack
from training.delta import chunk_kda
from training.export import agree, export
from training.feed import Feed, FeedError
from training.measure import TurnAccuracy, losses
from training.model import Operations, TrainingModel, choose
from training.optim import Rates, Schedule, orthogonalise
from training.quantise import round_mxfp4
from training.rows import GAP, Shape, fixed, producer, turns
from training.setup import build_model, build_optimizer, restore
from training.step import Step
from training.store import Progress, load, save

VOCAB, PAD, MEDIA = 128, 127, 126
SHAPE = Shape(rows=2, length=128, images=3, segments=96)
FAMILIES = ("echo", "picture")


def config() -> K3Config:
    raw = tiny(VOCAB)
    raw["tie_word_embeddings"] = True
    return K3Config.from_dict(raw)


def document(rng: np.random.Generator, *, picture: bool = False) -> Document:
    """A word, a mark, and the word again; perhaps an image before it."""
    word = rng.integers(2, 40, size=rng.integers(3, 9))
    pads = np.full(4 if picture else 0, MEDIA)
    ids = np.concatenate((pads, word, [1], word, [0])).astype(np.uint16)
    weights = np.full(len(ids), 10, np.uint8)
    weights[-len(word) - 1 :] = 100
    weights[: len(pads)] = 0
    patches = rng.integers(0, 255, size=(16, 588), dtype=np.uint8)
    images = (Picked(0, patches, (4, 4)),) if picture else ()
    return Document(ids, weights, images, "picture" if picture else "echo")


def documents(seed: int) -> Iterator[Document]:
    rng = np.random.default_rng(seed)
    while True:
        yield document(rng, picture=bool(rng.random() < 0.1))


def fresh() -> TrainingModel:
    return build_model(config(), torch.device("cpu"), torch.float32, 0, Operations())


def test_chunk_form_is_the_recurrent_rule() -> None:
    torch.manual_seed(0)
    rows, length, heads, width = 2, 70, 2, 32
    q, k, v, u = (torch.randn(rows, length, heads, width) for _ in range(4))
    beta, a_log, bias = (
        torch.randn(rows, length, heads),
        torch.randn(heads) * 0.2,
        torch.randn(heads * width) - 2,
    )
    out = chunk_kda(q, k, v, u, beta, a_log, bias, -5.0)
    unit = [x / torch.sqrt(x.square().sum(-1, keepdim=True) + 1e-6) for x in (q, k)]
    decay = -5.0 * torch.sigmoid(a_log.exp()[:, None] * (u + bias.view(heads, width)))
    state = torch.zeros(rows, heads, width, width)
    for t in range(length):
        step = (unit[0][:, t] * width**-0.5, unit[1][:, t], v[:, t], decay[:, t], torch.sigmoid(beta[:, t]))
        expected, state = recurrent_step(state, *step)
        torch.testing.assert_close(out[:, t], expected, rtol=1e-4, atol=1e-5)


def test_logits_equal_the_engine_in_packed_rows_and_with_images() -> None:
    rng = np.random.default_rng(1)
    chosen = [document(rng, picture=picture) for picture in (False, True, False)]
    model = fresh()
    engine = K3(config(), seed=None)
    engine.load_state_dict(model.k3.state_dict())
    batch = next(pack(iter(chosen * 40), 1, 128, pad=PAD, waiting=6, gap=GAP))
    tensors = {n: torch.from_numpy(a) for n, a in fixed(batch, Shape(1, 128, 8, 64), FAMILIES).items()}
    hidden, _ = model.hidden(tensors)
    from training.export import engine_logits

    rows = {
        chosen_document.ids.tobytes(): engine_logits(engine, chosen_document) for chosen_document in chosen
    }
    logits = model.k3.logits(hidden)
    compared = 0
    for number in range(1, int(batch.segments.max()) + 1):
        places = np.flatnonzero(batch.segments[0] == number)
        expected = rows[batch.ids[0, places].tobytes()]
        torch.testing.assert_close(logits[torch.from_numpy(places)], expected, rtol=1e-4, atol=1e-4)
        compared += 1
    assert compared >= 3


def test_dense_routing_is_the_engine_routing() -> None:
    moe = fresh().k3.decoder.order[1].block_sparse_moe
    assert isinstance(moe, LatentMoE)
    hidden = torch.randn(40, 64)
    ids, weights = moe.route(hidden)
    dense = torch.zeros(40, 4).scatter(1, ids, weights)
    torch.testing.assert_close(choose(moe, hidden), dense)


def test_rounding_equals_the_engine() -> None:
    torch.manual_seed(3)
    weights = torch.randn(6, 32, 64) * torch.logspace(-6, 2, 6)[:, None, None]
    weights[0, 0] = 0.0
    weights[1, :, :32] = torch.tensor([0.25, 0.75, 2.5, 5.0, 6.0, 7.9, -3.5, -1.25]).repeat(4)
    torch.testing.assert_close(round_mxfp4(weights), dequantize(*quantize(weights)), rtol=0, atol=0)


def test_orthogonalise_flattens_singular_values() -> None:
    torch.manual_seed(0)
    values = torch.linalg.svdvals(orthogonalise(torch.randn(3, 24, 40)))
    assert values.min() > 0.5
    assert values.max() < 1.4


def test_schedule_warms_up_holds_and_falls() -> None:
    schedule = Schedule(100.0, decay=0.4, warmup=10, floor=0.0)
    assert schedule.factor(0.0, 0) == pytest.approx(0.1)
    assert schedule.factor(30.0, 50) == 1.0
    assert schedule.factor(80.0, 500) == pytest.approx(0.5)
    assert schedule.factor(120.0, 900) == 0.0


def test_attention_does_not_cross_documents() -> None:
    torch.manual_seed(0)
    segments = torch.tensor([[1] * 5 + [2] * 7])
    q, k, v = (torch.randn(12, 2, 8) for _ in range(3))
    both = masked_attention(q, k, v, segments, torch.zeros(2), 0.3)
    alone = masked_attention(q[5:], k[5:], v[5:], segments[:, 5:], torch.zeros(2), 0.3)
    torch.testing.assert_close(both[5:], alone)


def test_fixed_batches_keep_their_books() -> None:
    batch = next(producer(documents, SHAPE, FAMILIES, PAD)(5))
    starts = batch["bounds"][batch["bounds"] < SHAPE.tokens]
    assert starts[0] == 0
    assert SHAPE.length in starts
    assert batch["targets"][0, 0] == batch["ids"][0, 1]
    numbers, family = turns(batch)
    assert numbers.max() + 1 == len(family)
    own = losses(batch, np.ones(SHAPE.tokens, np.float32), FAMILIES)
    assert own["echo"] == 1.0
    accuracy = TurnAccuracy(FAMILIES)
    hit = np.ones(SHAPE.tokens, bool)
    hit[np.flatnonzero(numbers == 0)[0]] = False
    accuracy.add(batch, hit)
    share, count = accuracy.table()["all"]
    assert count == len(family)
    assert share == pytest.approx(1 - 1 / count)


def _explode(seed: int) -> Iterator[dict[str, np.ndarray]]:
    yield {"seed": np.array([seed])}
    raise RuntimeError("no more")


def test_a_failing_worker_is_reported() -> None:
    feed = Feed(_explode, workers=1, seed=4, method="spawn", patience=60)
    try:
        assert next(feed)["seed"][0] == 4
        with pytest.raises(FeedError, match="no more"):
            next(feed)
    finally:
        feed.close()


def test_training_learns_resumes_and_exports(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = fresh()
    optimizer = build_optimizer(model, Rates(muon=0.02, adam=5e-3))
    step = Step(model, optimizer, SHAPE, torch.device("cpu"))
    feed = Feed(producer(documents, SHAPE, FAMILIES, PAD), workers=0, seed=1)
    seen = []
    for number in range(30):
        if number == 20:
            optimizer.quantise.fill_(1.0)
        step.train(next(feed), min(1.0, (number + 1) / 5))
        seen.append(float(step.loss))
    assert np.mean(seen[-5:]) < 0.8 * seen[0]
    assert float(step.load.min()) > 0

    tensors = {**{n: p.detach() for n, p in model.k3.named_parameters()}, **optimizer.masters()}
    save(tmp_path / "run", tensors, Progress(seconds=3.0, steps=30, tokens=30 * SHAPE.tokens, runs=1))
    read, progress = load(tmp_path / "run")
    assert progress.steps == 30
    again = fresh()
    second = build_optimizer(again)
    restore(again, second, read)
    batch = next(feed)
    optimizer.quantise.fill_(0.0)
    optimizer.load_masters(read)
    step.probe(batch)
    other = Step(again, second, SHAPE, torch.device("cpu"))
    other.probe(batch)
    assert float(other.loss) == pytest.approx(float(step.loss), rel=1e-5)

    target = tmp_path / "model"
    target.mkdir()
    (target / "config.json").write_text(json.dumps(config().to_dict()), "utf-8")
    assert export(tmp_path / "run", target) < 2_000_000
    engine = checkpoint.load(target)
    trained = TrainingModel(checkpoint.load(target).unfuse())
    rng = np.random.default_rng(9)
    agreement = agree(engine, trained, [document(rng), document(rng)], pad=PAD)
    assert agreement.same == 1.0
    assert agreement.difference < 1e-3


def test_a_step_that_is_not_finite_changes_nothing() -> None:
    model = fresh()
    optimizer = build_optimizer(model)
    optimizer.factor.fill_(1.0)
    before = {name: value.clone() for name, value in optimizer.masters().items()}
    optimizer.slabs[0].grads.fill_(float("nan"))
    optimizer.step()
    assert all(torch.equal(before[name], value) for name, value in optimizer.masters().items())
