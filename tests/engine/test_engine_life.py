"""How requests and engines end: aborts, errors, closing, loops that die. Nothing is left behind."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import threading
import time
import weakref

import anyio
import pytest
import torch
from engine_kit import ToyMask, answer, assert_idle, engine, ids, prompt, request, stripes, tiny

from kimi_sdk.engine.engine import Engine
from kimi_sdk.engine.k3 import K3
from kimi_sdk.errors import EngineClosed, EngineError

ENDLESS = 1500


def settled(on: Engine, seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not on.idle() and time.monotonic() < end:
        time.sleep(0.002)
    return on.idle()


def engine_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "kimi-engine"}


@pytest.mark.anyio
async def test_an_abort_storm_leaves_the_engine_idle_and_right() -> None:
    on = engine(slots=3, step_tokens=32)
    expected = ids(answer(on, request(30)))
    chance = random.Random(0)

    async def one(number: int) -> None:
        asked = request(
            chance.randint(1, 150), seed=number, temperature=1.0, max_tokens=chance.randint(1, 200)
        )
        way = number % 5
        if way == 0:
            on.submit(asked).abort()
        elif way == 1:
            with anyio.move_on_after(chance.random() * 0.05):
                async for _ in on.submit(asked):
                    pass
        elif way == 2:
            async for _ in on.submit(asked):
                break
        elif way == 3:
            async with on.submit(asked) as generation:
                await anyio.sleep(chance.random() * 0.02)
            assert generation.finish_reason is not None
        else:
            with anyio.CancelScope() as scope:
                scope.cancel()
                async for _ in on.submit(asked):
                    pass

    async with anyio.create_task_group() as tasks:
        for number in range(60):
            tasks.start_soon(one, number)
    generation = on.submit(request(30))
    assert [t.id async for tokens in generation for t in tokens] == expected
    while not on.idle():
        await anyio.sleep(0.002)
    on.close()


@pytest.mark.anyio
async def test_leaving_the_context_finds_everything_free_at_once() -> None:
    on = engine()
    async with on.submit(request(max_tokens=ENDLESS)) as generation:
        async for _ in generation:
            break
    assert_idle(on)
    on.close()


@pytest.mark.anyio
async def test_an_abort_takes_effect_within_a_step_also_for_waiting_requests() -> None:
    on = engine(slots=1)
    generations = [on.submit(request(max_tokens=500)) for _ in range(8)]
    await generations[0].__anext__()
    for generation in generations:
        generation.abort()
    before = on.stats().steps
    for generation in generations:
        await generation.wait()
        assert generation.finish_reason == "abort"
    assert on.stats().steps <= before + 1
    assert_idle(on)
    on.close()


@pytest.mark.anyio
async def test_a_cancel_in_the_tick_of_submission_leaves_nothing() -> None:
    on = engine()
    for _ in range(100):
        with anyio.CancelScope() as scope:
            scope.cancel()
            async for _ in on.submit(request(max_tokens=ENDLESS)):
                pass
    while not on.idle():
        await anyio.sleep(0.002)
    on.close()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_death_of_the_readers_loop_frees_its_request(backend: str) -> None:
    on = engine(pages=64)
    kept = on.submit(request(max_tokens=ENDLESS))
    anyio.run(kept.__anext__, backend=backend)
    assert settled(on)
    assert kept.finish_reason == "abort"
    on.close()


def test_two_loops_in_two_threads_share_one_engine() -> None:
    on = engine(slots=3)
    expected = {n: ids(answer(on, request(10 + n))) for n in range(6)}
    found: dict[str, dict[int, list[int]]] = {}

    async def read_all(backend: str) -> None:
        async def read(number: int) -> None:
            generation = on.submit(request(10 + number))
            found[backend][number] = [t.id async for tokens in generation for t in tokens]

        async with anyio.create_task_group() as tasks:
            for number in expected:
                tasks.start_soon(read, number)

    threads = []
    for backend in ("asyncio", "trio"):
        found[backend] = {}
        run = threading.Thread(target=anyio.run, args=(read_all, backend), kwargs={"backend": backend})
        threads.append(run)
        run.start()
    for thread in threads:
        thread.join(30)
    assert found == {"asyncio": expected, "trio": expected}
    assert_idle(on)
    on.close()


def test_successive_loops_use_one_engine() -> None:
    on = engine()

    async def read() -> list[int]:
        return [t.id async for tokens in on.submit(request()) for t in tokens]

    answers = [anyio.run(read, backend=backend) for backend in ("asyncio", "trio", "asyncio")]
    assert answers[0] == answers[1] == answers[2] == ids(answer(on, request()))
    on.close()


@pytest.mark.anyio
async def test_closing_ends_running_and_waiting_requests() -> None:
    others = engine_threads()
    on = engine(slots=1)
    generations = [on.submit(request(max_tokens=500)) for _ in range(3)]
    await generations[0].__anext__()
    on.close()
    on.close()
    for generation in generations:
        with pytest.raises(EngineClosed):
            [tokens async for tokens in generation]
    with pytest.raises(EngineClosed):
        on.submit(request())
    assert_idle(on)
    assert not engine_threads() - others


def test_an_engine_that_never_ran_closes() -> None:
    others = engine_threads()
    on = engine()
    assert not engine_threads() - others
    on.close()
    with pytest.raises(EngineClosed):
        on.submit(request())


def test_a_dropped_engine_ends_its_thread() -> None:
    others = engine_threads()
    on = engine()
    answer(on, request())
    gone = weakref.ref(on)
    (thread,) = engine_threads() - others
    del on
    gc.collect()
    assert gone() is None
    thread.join(5)
    assert not thread.is_alive()


def test_a_generation_keeps_its_engine() -> None:
    generation = engine().submit(request())
    gc.collect()
    assert sum(len(tokens) for tokens in generation) == 8


def in_a_process_of_its_own(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={"PYTHONPATH": ":".join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_python_exits_while_a_request_runs() -> None:
    program = (
        "from engine_kit import engine, request\n"
        "on = engine(pages=64)\n"
        "generation = on.submit(request(max_tokens=1500))\n"
        "next(iter(generation))\n"
        "kept = on.submit(request(max_tokens=1500))\n"
    )
    done = in_a_process_of_its_own(program)
    assert (done.returncode, done.stderr) == (0, "")


def test_python_waits_for_a_dropped_engine_to_free_its_tensors() -> None:
    program = (
        "import time\n"
        "from engine_kit import engine, request\n"
        "class Slow:\n"
        "    def __del__(self, sleep=time.sleep, say=print):\n"
        "        sleep(1.0)\n"
        "        say('freed', flush=True)\n"
        "on = engine(pages=64)\n"
        "on._worker.slow = Slow()\n"
        "list(on.submit(request(max_tokens=3)))\n"
        "del on\n"
        "time.sleep(0.1)  # the thread has begun to free when Python goes down\n"
    )
    done = in_a_process_of_its_own(program)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "freed\n")


class BadMask(ToyMask):
    """Breaks in one of its methods once it has seen two tokens."""

    def __init__(self, where: str) -> None:
        super().__init__(lambda _: set(range(100)))
        self.where = where

    def _maybe(self, place: str) -> None:
        if place == self.where and self.position >= 2:
            raise ZeroDivisionError("toy")

    def fill(self, row: torch.Tensor) -> None:
        self._maybe("fill")
        super().fill(row)

    def accept(self, token: int) -> None:
        self._maybe("accept")
        super().accept(token)

    def forced(self) -> list[int]:
        self._maybe("forced")
        return super().forced()


@pytest.mark.anyio
@pytest.mark.parametrize("where", ["fill", "accept", "forced"])
async def test_a_broken_mask_fails_its_own_request_only(where: str) -> None:
    on = engine()
    bad, good = on.submit(request(mask=BadMask(where))), on.submit(request(mask=stripes()))
    got: list[int] = []

    async def read() -> None:
        async for tokens in bad:
            got.extend(t.id for t in tokens)

    with pytest.raises(EngineError, match="toy") as caught:
        await read()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert len(got) == 2
    assert sum([len(tokens) async for tokens in good]) == 8
    assert_idle(on)
    on.close()


def test_a_mask_that_breaks_at_once_fails_its_own_request_only() -> None:
    class Worse(BadMask):
        def _maybe(self, place: str) -> None:
            raise ZeroDivisionError("toy")

    on = engine()
    with pytest.raises(EngineError, match="before its first token"):
        answer(on, request(mask=Worse("forced")))
    assert_idle(on)
    on.close()


POISON = 3


def poisoned() -> K3:
    """The tiny model with one token whose embedding is not a number."""
    model = K3(tiny().config, seed=1).fuse()
    with torch.no_grad():
        model.decoder.embed_tokens.weight[POISON] = torch.nan
    return model


@pytest.mark.anyio
async def test_numbers_that_break_fail_their_own_request_and_stay_in_no_cache() -> None:
    on = Engine(poisoned(), slots=2, pages=8)
    clean = [token for token in prompt(100) if token != POISON]
    asked = request(ids=clean, max_tokens=10)
    expected = ids(answer(on, asked))
    for length in (1, 20, 100):
        good = on.submit(asked)
        bad = on.submit(request(ids=[*clean[: length - 1], POISON]))
        with pytest.raises(EngineError, match="not numbers"):
            [tokens async for tokens in bad]
        assert [t.id async for tokens in good for t in tokens] == expected
        assert_idle(on)
        assert ids(answer(on, asked)) == expected
    on.close()


def test_a_forward_that_breaks_fails_what_ran_and_the_engine_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    on = engine(slots=2)
    expected = ids(answer(on, request()))
    forward, calls = K3.forward, []

    def breaks_once(*args: object) -> torch.Tensor:
        calls.append(1)
        if len(calls) == 4:
            raise RuntimeError("no memory left")
        return forward(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(K3, "forward", breaks_once)
    generations = [on.submit(request()) for _ in range(4)]
    answers, errors = [], []
    for generation in generations:
        try:
            answers.append([t.id for tokens in generation for t in tokens])
        except EngineError as error:
            errors.append(error)
    assert all("no memory left" in str(error) for error in errors)
    assert all(isinstance(error.__cause__, RuntimeError) for error in errors)
    assert len(errors) in (1, 2)
    assert all(tokens == expected for tokens in answers)
    assert_idle(on)
    on.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_engine_that_breaks_itself_tells_everyone(monkeypatch: pytest.MonkeyPatch) -> None:
    from kimi_sdk.engine.scheduler import Scheduler

    on = engine(slots=1)

    def plan(self: Scheduler) -> list[object]:
        raise AssertionError("broken")

    monkeypatch.setattr(Scheduler, "plan", plan)
    generations = [on.submit(request()) for _ in range(1)]
    for generation in generations:
        with pytest.raises(EngineClosed, match="broken"):
            list(generation)
    with pytest.raises(EngineClosed):
        on.submit(request())
    on.close()
