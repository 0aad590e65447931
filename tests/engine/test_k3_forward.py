"""The whole decoder: against float64 equations, however the tokens are cut, and whoever is in the batch."""

from __future__ import annotations

import random

import pytest
import reference_k3
import torch
from engine_models import VARIANTS, Talk, distance, on_disk_float64, random_model, raw_k3, run, step

from kimi_sdk.engine.batch import Batch
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.manifest import pinned_names

LENGTHS = (1, 2, 15, 16, 17, 63, 64, 65)


def some_ids(count: int, seed: int = 0) -> list[int]:
    return [random.Random(seed + i).randrange(128) for i in range(count)]


@pytest.fixture(scope="module", params=sorted(VARIANTS))
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def model(variant: str) -> K3:
    return random_model(VARIANTS[variant]())


def test_forward_is_the_reference(variant: str, model: K3) -> None:
    ids = some_ids(70)
    wanted = reference_k3.forward(VARIANTS[variant](), on_disk_float64(model), ids)
    assert distance(run(model, ids, [70]), wanted) < 1e-5
    assert distance(run(model, ids, [1] * 70), wanted) < 1e-5


@pytest.mark.parametrize("length", LENGTHS)
def test_any_length_then_one_more_token(model: K3, length: int) -> None:
    ids = some_ids(length + 1, seed=length)
    once = run(model, ids, [length, 1])
    assert torch.isfinite(once).all()
    assert distance(once, run(model, ids, [1] * (length + 1))) < 1e-5


@pytest.mark.parametrize("splits", [[64, 64, 2], [30, 70, 30], [1, 128, 1], [17, 16, 15, 65, 17], [2] * 65])
def test_split_prefill_is_one_shot(model: K3, splits: list[int]) -> None:
    ids = some_ids(130)
    assert distance(run(model, ids, splits), run(model, ids, [130])) < 1e-5


def test_batch_is_alone(model: K3) -> None:
    """Five sequences that join, prefill beside others' decoding, and leave."""
    texts = [some_ids(length, seed=100 + length) for length in (90, 3, 66, 20, 70)]
    plan = [[64, 1, 1, 24], [1, 1, 1], [2, 63, 1], [17, 3], [65, 1, 1, 3]]
    joins = [0, 0, 1, 2, 2]
    caches = model.caches(slots=7, pages=12)
    talks: dict[int, Talk] = {}
    found: dict[int, list[torch.Tensor]] = {index: [] for index in range(5)}
    for moment in range(8):
        members = [i for i in range(5) if joins[i] <= moment < joins[i] + len(plan[i])]
        if not members:
            continue
        pieces = []
        for index in members:
            if index not in talks:
                talks[index] = Talk(caches, len(texts[index]))
            start = talks[index].done
            pieces.append(texts[index][start : start + plan[index][moment - joins[index]]])
        results = step(model, caches, [talks[i] for i in members], pieces)
        for index, logits in zip(members, results, strict=True):
            found[index].append(logits)
    for index, text in enumerate(texts):
        assert distance(torch.cat(found[index]), run(model, text, [len(text)])) < 1e-5


def test_decoding_together_is_decoding_alone(model: K3) -> None:
    """Slots out of order and contexts of different page counts."""
    texts = [some_ids(length, seed=length) for length in (130, 5, 64, 63)]
    caches = model.caches(slots=6, pages=12)
    talks = [Talk(caches, len(text) + 3) for text in texts]
    order = [2, 0, 3, 1]
    for index in order:
        step(model, caches, [talks[index]], [texts[index]])
    for _ in range(3):
        new = [7 + talk.done % 50 for talk in talks]
        results = step(model, caches, [talks[i] for i in order], [[new[i]] for i in order])
        for index, logits in zip(order, results, strict=True):
            texts[index].append(new[index])
            assert distance(logits, run(model, texts[index], [len(texts[index])])[-1:]) < 1e-5


def test_only_its_own_slots_and_pages_are_written(model: K3) -> None:
    caches = model.caches(slots=4, pages=6)
    states = [*caches.slots.recurrent.values(), *caches.slots.conv.values()]
    for pool in [*states, *caches.pages.rows.values()]:
        pool.fill_(7.25)
    first, second = Talk(caches, 40), Talk(caches, 1)
    step(model, caches, [first, second], [some_ids(40), some_ids(1)])
    for pool in states:
        assert (pool[2:] == 7.25).all()
        assert not (pool[:2] == 7.25).any()
    for pool in caches.pages.rows.values():
        assert (pool[2:] == 7.25).all()


def test_fused_is_unfused(model: K3) -> None:
    ids = some_ids(80)
    before = run(model, ids, [64, 1, 15])
    weights = on_disk_float64(model)
    model.fuse()
    fused = run(model, ids, [64, 1, 15])
    assert all((on_disk_float64(model)[name] == value).all() for name, value in weights.items())
    model.unfuse().requires_grad_(False)
    assert distance(fused, before) < 1e-5
    assert torch.equal(run(model, ids, [64, 1, 15]), before)


def test_the_future_changes_no_bit_of_the_past(model: K3) -> None:
    ids = some_ids(100)
    other = ids[:41] + some_ids(59, seed=999)
    assert torch.equal(run(model, ids, [100])[:41], run(model, other, [100])[:41])


def test_new_models_neither_fade_nor_burst() -> None:
    """A random model over a long text: states keep a size, logits stay near one."""
    model = K3(K3Config.tiny(128, vision=False), seed=5).requires_grad_(False)
    ids = some_ids(600)
    caches = model.caches(slots=1, pages=10)
    talk = Talk(caches, 600)
    logits = step(model, caches, [talk], [ids])[0]
    assert 0.3 < float(logits.std()) < 3
    for state in caches.slots.recurrent.values():
        assert 0.01 < float(state.std()) < 10


def test_gradients_reach_every_trained_tensor() -> None:
    model = K3(K3Config.from_dict(raw_k3()))
    caches = model.caches(slots=1, pages=1)
    batch = Batch(lengths=[20], contexts=[0], slots=[0], pages=[[0]])
    hidden = model.forward(model.embed(torch.tensor(some_ids(20))), batch, caches)
    model.logits(hidden).logsumexp(-1).sum().backward()
    untouched = {name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()}
    first = "language_model.model.layers.0.self_attention_res_"
    unread = {first + "norm.weight", first + "proj.weight"}
    assert {name for name in untouched if not name.endswith("e_score_correction_bias")} == unread


def test_bfloat16_follows_float32() -> None:
    """The same code in bf16, where fp32 islands matter: a coarse check that nothing is lost."""
    model = random_model(raw_k3())
    wanted = run(model, some_ids(40), [33, 1, 6])
    pinned = pinned_names(model)
    for name, parameter in model.named_parameters():
        if name not in pinned:
            parameter.data = parameter.data.bfloat16()
    assert distance(run(model, some_ids(40), [33, 1, 6]), wanted) < 0.1
