"""The bridge: a producer thread that never waits, readers on any loop or none."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import pytest

from kimi_sdk.engine.generation import Generation, Stream
from kimi_sdk.engine.sampler import SampledToken
from kimi_sdk.errors import EngineError
from kimi_sdk.settings import Usage


class Producer:
    """Writes numbered tokens into streams, as the engine thread does, until told to stop or aborted."""

    def __init__(self, *, total: int = 10**9, pause: float = 0.0, error: Exception | None = None) -> None:
        self.total, self.pause, self.error = total, pause, error
        self.stream = Stream()
        self.worst_push = 0.0
        self.pushed = 0
        self._halt = False
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while self.pushed < self.total and not self.stream.aborted and not self._halt:
            begun = time.perf_counter()
            self.stream.push([SampledToken(self.pushed, 0.0)], Usage(output_tokens=self.pushed + 1))
            self.worst_push = max(self.worst_push, time.perf_counter() - begun)
            self.pushed += 1
            time.sleep(self.pause)
        self.stream.end("abort" if self.stream.aborted else "stop", self.error)

    def generation(self) -> Generation:
        return Generation(self.stream, seed=0, owner=self)

    def stop(self) -> None:
        self._halt = True
        if self.thread.is_alive():
            self.thread.join(5)


@contextmanager
def producing(**settings: object) -> Iterator[Producer]:
    producer = Producer(**settings)  # type: ignore[arg-type]
    producer.thread.start()
    try:
        yield producer
    finally:
        producer.stop()


def until(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    return condition()


@pytest.mark.anyio
async def test_every_token_arrives_in_order_and_once() -> None:
    with producing(total=5000) as producer:
        ids = [t.id async for batch in producer.generation() for t in batch]
    assert ids == list(range(5000))


def test_a_plain_loop_reads_without_an_event_loop() -> None:
    with producing(total=5000) as producer:
        generation = producer.generation()
        assert [t.id for batch in generation for t in batch] == list(range(5000))
        assert generation.finish_reason == "stop"
        assert generation.usage.output_tokens == 5000


@pytest.mark.anyio
async def test_an_error_comes_after_the_tokens_before_it() -> None:
    with producing(total=3, error=EngineError("boom")) as producer:
        seen: list[int] = []

        async def read() -> None:
            async for batch in producer.generation():
                seen.extend(t.id for t in batch)

        with pytest.raises(EngineError, match="boom"):
            await read()
    assert seen == [0, 1, 2]


def test_a_plain_loop_raises_the_error_too() -> None:
    with producing(total=3, error=EngineError("boom")) as producer:
        seen: list[int] = []

        def read() -> None:
            for batch in producer.generation():
                seen.extend(t.id for t in batch)

        with pytest.raises(EngineError, match="boom"):
            read()
    assert seen == [0, 1, 2]


@pytest.mark.anyio
async def test_leaving_the_loop_aborts_even_while_the_object_is_held() -> None:
    with producing(pause=0.001) as producer:
        generation = producer.generation()
        async for _ in generation:
            break
        await generation.wait()
        assert generation.finish_reason == "abort"


def test_leaving_a_plain_loop_aborts() -> None:
    with producing(pause=0.001) as producer:
        generation = producer.generation()
        for _ in generation:
            break
        generation.close()
        assert generation.finish_reason == "abort"


@pytest.mark.anyio
async def test_the_context_manager_waits_for_the_end() -> None:
    with producing(pause=0.001) as producer:
        async with producer.generation() as generation:
            await generation.__anext__()
            assert generation.finish_reason is None
        assert producer.stream.ended


@pytest.mark.anyio
async def test_cancelling_the_reader_aborts() -> None:
    with producing(total=1, pause=60.0) as producer:
        generation = producer.generation()
        await generation.__anext__()
        with anyio.move_on_after(0.02):
            await generation.__anext__()
        assert producer.stream.aborted
        producer.thread = threading.Thread()  # it sleeps on as a daemon; nothing waits for it


@pytest.mark.anyio
async def test_aclose_waits_even_when_cancelled() -> None:
    with producing(pause=0.02) as producer:
        generation = producer.generation()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await generation.aclose()
        assert producer.stream.ended


@pytest.mark.anyio
async def test_dropping_the_object_aborts() -> None:
    with producing(pause=0.001) as producer:
        generation = producer.generation()
        await generation.__anext__()
        del generation
        gc.collect()
        assert producer.stream.aborted


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_dead_loop_aborts_though_the_object_lives(backend: str) -> None:
    with producing(pause=0.001) as producer:
        generation = producer.generation()
        anyio.run(generation.__anext__, backend=backend)
        assert until(lambda: producer.stream.ended)
        assert generation.finish_reason == "abort"


@pytest.mark.parametrize("blocked", ["asyncio", "trio"])
def test_a_blocked_loop_holds_up_neither_the_producer_nor_others(blocked: str) -> None:
    worst: dict[str, float] = {}

    async def read(generation: Generation, *, block: bool) -> None:
        last, gap, count = time.perf_counter(), 0.0, 0
        async for _ in generation:
            now = time.perf_counter()
            gap, last, count = max(gap, now - last), now, count + 1
            if block and count == 3:
                time.sleep(0.6)
            if not block and worst.get("blocked"):
                break
        worst["blocked" if block else "other"] = gap

    with producing(pause=0.001, total=300) as one, producing(pause=0.001) as two:
        threads = [
            threading.Thread(
                target=lambda p=producer, b=block, e=backend: anyio.run(
                    lambda: read(p.generation(), block=b), backend=e
                )
            )
            for producer, block, backend in (
                (one, True, blocked),
                (two, False, "trio" if blocked == "asyncio" else "asyncio"),
            )
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert worst["blocked"] >= 0.6
        assert worst["other"] < 0.3
        assert max(one.worst_push, two.worst_push) < 0.3


@pytest.mark.anyio
async def test_several_waiters_all_wake() -> None:
    with producing(total=20, pause=0.002) as producer:
        generation = producer.generation()
        seen: list[int] = []

        async def read() -> None:
            async for batch in generation:
                seen.extend(t.id for t in batch)

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(read)
            tasks.start_soon(generation.wait)
    assert sorted(seen) == list(range(20))


def test_wake_ups_are_never_lost() -> None:
    async def race() -> None:
        for _ in range(40):
            with producing(total=25) as producer, anyio.fail_after(10):
                count = 0
                async for batch in producer.generation():
                    count += len(batch)
                    await anyio.sleep(0)
            assert count == 25

    for backend in ("asyncio", "trio"):
        anyio.run(race, backend=backend)
