"""What the engine answers: the same tokens whatever runs beside them and however the work is cut."""

from __future__ import annotations

import math
import random
import time
from dataclasses import replace

import anyio
import pytest
from engine_kit import VOCAB, alone, answer, assert_idle, engine, ids, prompt, request, stripes, tiny

from kimi_sdk.engine.engine import Engine, Request
from kimi_sdk.engine.sampler import SampledToken, SamplingParams
from kimi_sdk.errors import ConfigError, ContextOverflow, OutOfMemory

LENGTHS = (1, 2, 15, 16, 17, 63, 64, 65, 130)


def mixed(number: int) -> Request:
    """Requests of many kinds: long, short, greedy, warm, masked."""
    return request(
        LENGTHS[number % len(LENGTHS)],
        mask=stripes(start=number) if number % 3 == 2 else None,
        temperature=0.0 if number % 2 else 1.0,
        top_p=0.9 if number % 4 else 1.0,
        seed=number,
        max_tokens=3 + number * 7 % 19,
        logprobs=number % 3,
    )


def close(one: list[SampledToken], other: list[SampledToken]) -> bool:
    """Same tokens, and log-probabilities equal up to rounding."""
    return ids(one) == ids(other) and all(
        math.isclose(a.logprob, b.logprob, abs_tol=1e-3) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.anyio
async def test_a_batch_answers_as_each_request_does_alone() -> None:
    count = 12
    together: dict[int, list[SampledToken]] = {}
    shared = engine(step_tokens=96)

    async def read(number: int) -> None:
        together[number] = [t async for tokens in shared.submit(mixed(number)) for t in tokens]

    async with anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(read, number)
    assert_idle(shared)
    shared.close()
    single = engine()
    for number in range(count):
        assert close(together[number], answer(single, mixed(number))), number
    single.close()


@pytest.mark.anyio
@pytest.mark.parametrize("schedule", range(3))
async def test_joining_and_leaving_at_any_step_changes_nobodys_tokens(schedule: int) -> None:
    chance = random.Random(schedule)
    shared = engine(slots=3, step_tokens=40)
    read_to_the_end: dict[int, list[SampledToken]] = {}

    async def read(number: int, most: float, delay: int) -> None:
        for _ in range(delay):
            await anyio.sleep(0.001)
        got: list[SampledToken] = []
        async for tokens in shared.submit(mixed(number)):
            got += tokens
            if len(got) >= most:
                return
        read_to_the_end[number] = got

    async with anyio.create_task_group() as tasks:
        for number in range(16):
            most = math.inf if number % 3 else chance.randint(1, 3)
            tasks.start_soon(read, number, most, chance.randint(0, 30))
    while not shared.idle():
        await anyio.sleep(0.001)
    assert len(read_to_the_end) >= 10
    shared.close()
    single = engine()
    for number, got in read_to_the_end.items():
        assert close(got, answer(single, mixed(number))), number
    single.close()


def test_the_size_of_prefill_chunks_does_not_change_the_tokens() -> None:
    asked = request(130, max_tokens=12)
    expected = alone(asked, slots=1)
    for step_tokens in (2, 3, 16, 17, 64, 65, 129, 130, 131):
        on = engine(slots=1, step_tokens=step_tokens)
        assert close(answer(on, asked), expected), step_tokens
        stats = on.stats()
        assert stats.prefill_tokens + stats.decode_tokens == 130 + 12 - 1
        on.close()


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("start", [0, 3])
def test_forced_runs_as_one_chunk_equal_token_by_token(temperature: float, start: int) -> None:
    def asked() -> Request:
        return request(20, mask=stripes(31, start=start), temperature=temperature, seed=4, max_tokens=100)

    fast, slow = engine(forced=True), engine(forced=False)
    one, other = answer(fast, asked()), answer(slow, asked())
    assert close(one, other)
    assert [t.forced for t in one] == [t.forced for t in other] == [(start + i) % 7 >= 3 for i in range(31)]
    assert all(t.logprob == 0.0 for t in one if t.forced)
    assert fast.stats().steps < slow.stats().steps
    assert fast.stats().forced_tokens == slow.stats().forced_tokens == sum(t.forced for t in one)
    fast.close()
    slow.close()


def test_forced_tokens_stop_at_max_tokens_and_at_stop_ids() -> None:
    on = engine()
    asked = request(mask=stripes(start=3), max_tokens=2)
    generation = on.submit(asked)
    got = [t for tokens in generation for t in tokens]
    assert ids(got) == [3 * 37, 4 * 37]
    assert generation.finish_reason == "length"
    assert generation.usage.forced_tokens == generation.usage.output_tokens == 2
    generation = on.submit(request(mask=stripes(start=3), stop_ids=frozenset({4 * 37})))
    assert ids(t for tokens in generation for t in tokens) == [3 * 37, 4 * 37]
    assert generation.finish_reason == "stop"
    assert on.stats().steps == 0
    assert_idle(on)
    on.close()


def test_a_completed_mask_ends_the_answer() -> None:
    on = engine()
    for length in (0, 1, 5):
        mask = stripes(length)
        generation = on.submit(request(mask=mask))
        got = [t for tokens in generation for t in tokens]
        assert ids(got) == mask.seen
        assert len(got) == length
        assert generation.finish_reason == "stop"
    assert_idle(on)
    on.close()


def test_a_seed_repeats_its_answer_and_another_gives_another() -> None:
    on = engine()
    ids_of = {
        seed: ids(answer(on, request(ids=prompt(10), temperature=1.0, top_p=1.0, seed=seed, max_tokens=20)))
        for seed in (1, 2, 3)
    }
    assert len({tuple(v) for v in ids_of.values()}) == 3
    for seed, expected in ids_of.items():
        again = request(ids=prompt(10), temperature=1.0, top_p=1.0, seed=seed, max_tokens=20)
        assert ids(answer(on, again)) == expected
    free = on.submit(request(temperature=1.0, max_tokens=20))
    first = [t.id for tokens in free for t in tokens]
    again = request(temperature=1.0, max_tokens=20)
    again = replace(again, sampling=replace(again.sampling, seed=free.seed))
    assert ids(answer(on, again)) == first
    on.close()


def test_stop_ids_end_the_answer_and_are_its_last_token() -> None:
    on = engine()
    plain = ids(answer(on, request(max_tokens=8)))
    stop = plain[4]
    generation = on.submit(request(max_tokens=8, stop_ids=frozenset({stop})))
    assert ids(t for tokens in generation for t in tokens) == plain[: plain.index(stop) + 1]
    assert generation.finish_reason == "stop"
    on.close()


def test_max_tokens_and_the_end_of_the_memory_end_the_answer() -> None:
    on = engine(slots=1, pages=1)
    generation = on.submit(request(max_tokens=5))
    assert sum(len(tokens) for tokens in generation) == 5
    assert generation.finish_reason == "length"
    usage = generation.usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.output_tokens) == (10, 0, 5)
    generation = on.submit(request(60, max_tokens=None))
    assert sum(len(tokens) for tokens in generation) == 64 - 60 + 1
    assert generation.finish_reason == "length"
    assert_idle(on)
    on.close()


def test_logprobs_are_those_of_the_allowed_tokens() -> None:
    for token in alone(request(logprobs=VOCAB, temperature=1.0, seed=2)):
        assert len(token.top) == VOCAB
        assert sum(math.exp(p) for _, p in token.top) == pytest.approx(1.0, abs=1e-4)
        assert dict(token.top)[token.id] == token.logprob
    for token in alone(request(mask=stripes(), logprobs=VOCAB)):
        assert sum(math.exp(p) for _, p in token.top) == pytest.approx(1.0, abs=1e-4)


def test_time_in_masks_is_accounted() -> None:
    on = engine()
    answer(on, request(mask=stripes(), max_tokens=16))
    stats = on.stats()
    parts = stats.forward_seconds + stats.mask_seconds + stats.sampling_seconds
    assert 0 < stats.mask_share < 1
    assert parts < stats.busy_seconds
    on.close()


def test_what_can_never_fit_is_refused_at_once() -> None:
    on = engine(slots=1, pages=2)
    with pytest.raises(OutOfMemory, match="128"):
        on.submit(request(200))
    with pytest.raises(OutOfMemory):
        on.submit(request(100, max_tokens=100))
    context = tiny().config.text.context
    with pytest.raises(ContextOverflow) as caught:
        on.submit(request(context))
    assert (caught.value.needed, caught.value.available) == (context, context - 1)
    assert_idle(on)
    on.close()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (Request(ids=[]), "empty"),
        (Request(ids=[1, VOCAB]), str(VOCAB)),
        (Request(ids=[-1]), "-1"),
    ],
)
def test_bad_prompts_are_refused(asked: Request, words: str) -> None:
    on = engine()
    with pytest.raises(ConfigError, match=words):
        on.submit(asked)
    on.close()


@pytest.mark.parametrize(
    "settings", [{"slots": 0}, {"slots": 8, "step_tokens": 8}, {"pages": 0}, {"vocab": 10**6}, {"threads": 0}]
)
def test_bad_settings_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        Engine(tiny(), **settings)  # type: ignore[arg-type]


def test_waiting_requests_start_in_order() -> None:
    on = engine(slots=1)
    order = []
    generations = [on.submit(request(5 + n, max_tokens=3)) for n in range(5)]
    generations.append(on.submit(Request(ids=prompt(4), sampling=SamplingParams(max_tokens=2))))
    while not on.idle():
        time.sleep(0.001)
        for number, generation in enumerate(generations):
            if generation.finish_reason and number not in order:
                order.append(number)
    order += [n for n in range(6) if n not in order]
    assert order == sorted(order)
    on.close()
