"""The scheduler alone: who is admitted, what a step holds, and that nothing leaks or waits for ever."""

from __future__ import annotations

import random

import pytest
from engine_kit import request, tiny

from kimi_sdk.engine.pages import PAGE, PagePool
from kimi_sdk.engine.sampler import SampledToken
from kimi_sdk.engine.scheduler import Scheduler
from kimi_sdk.engine.sequence import Sequence
from kimi_sdk.engine.stats import Meter


def sequence(prompt: int, limit: int) -> Sequence:
    return Sequence(request(prompt), limit=limit, forced=True, meter=Meter())


def step(scheduler: Scheduler, budget: int) -> list[Sequence]:
    """One step without a model: every sequence whose tokens are all cached writes one; gives the finished."""
    scheduler.admit()
    chunks = scheduler.plan()
    assert sum(chunk.count for chunk in chunks) <= budget
    decoding = [chunk.sequence.slot for chunk in chunks if chunk.sequence.pending == 1]
    assert decoding == sorted(decoding)
    assert [chunk.count for chunk in chunks[: len(decoding)]] == [1] * len(decoding)
    done = []
    for chunk in chunks:
        last = chunk.last
        chunk.sequence.cached += chunk.count
        assert len(chunk.sequence.pages) * PAGE >= chunk.sequence.cached
        if last:
            chunk.sequence.advance(SampledToken(1, 0.0))
            assert len(chunk.sequence.hand_over()) == 1
        if chunk.sequence.finish:
            done.append(chunk.sequence)
    for one in done:
        scheduler.release(one)
    return done


@pytest.mark.parametrize("seed", range(5))
def test_every_sequence_ends_and_everything_is_free_again(seed: int) -> None:
    chance = random.Random(seed)
    slots, pages, budget = chance.randint(1, 5), chance.randint(4, 12), chance.randint(6, 100)
    caches = tiny().caches(slots=slots, pages=pages)
    scheduler = Scheduler(caches, step_tokens=budget)
    waiting = [sequence(chance.randint(1, 150), chance.randint(1, 100)) for _ in range(30)]
    for one in waiting:
        if PagePool.pages_for(one.longest) <= pages:
            scheduler.add(one)
    expected, ended, steps = len(scheduler.waiting), 0, 0
    while scheduler.busy:
        ended += len(step(scheduler, budget))
        steps += 1
        assert steps < 20_000
    assert ended == expected
    assert caches.slots.available == slots
    assert caches.pages.available == pages


def test_running_ones_always_get_their_next_page() -> None:
    caches = tiny().caches(slots=4, pages=4)
    scheduler = Scheduler(caches, step_tokens=300)
    for _ in range(4):
        scheduler.add(sequence(60, 60))
    assert len(scheduler.admit()) == 2
    assert caches.pages.available == 4
    scheduler.plan()
    assert caches.pages.available == 2


def test_first_come_first_served_even_if_a_later_one_would_fit() -> None:
    caches = tiny().caches(slots=4, pages=4)
    scheduler = Scheduler(caches, step_tokens=300)
    first, large, small = sequence(150, 10), sequence(200, 10), sequence(3, 3)
    for one in (first, large, small):
        scheduler.add(one)
    assert scheduler.admit() == [first]
    assert scheduler.admit() == []
    scheduler.release(first)
    assert scheduler.admit() == [large]


def test_answers_go_on_beside_a_long_prompt_and_the_oldest_prompt_comes_first() -> None:
    caches = tiny().caches(slots=4, pages=20)
    scheduler = Scheduler(caches, step_tokens=16)
    writing, long, longer = sequence(5, 50), sequence(100, 5), sequence(120, 5)
    scheduler.add(writing)
    step(scheduler, 16)
    scheduler.add(long)
    scheduler.add(longer)
    for turn in range(1, 6):
        step(scheduler, 16)
        assert writing.written == 1 + turn
        assert (long.cached, longer.cached) == (15 * turn, 0)


def test_aborted_sequences_are_found_wherever_they_are() -> None:
    caches = tiny().caches(slots=1, pages=20)
    scheduler = Scheduler(caches, step_tokens=16)
    running, waiting, kept = sequence(5, 5), sequence(5, 5), sequence(5, 5)
    for one in (running, waiting, kept):
        scheduler.add(one)
    scheduler.admit()
    running.stream.aborted = waiting.stream.aborted = True
    assert scheduler.aborted() == [running, waiting]
    for one in scheduler.aborted():
        scheduler.release(one)
    assert list(scheduler.waiting) == [kept]
    assert caches.slots.available == 1
