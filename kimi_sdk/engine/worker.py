"""The engine thread: what it does from its first request to its end.

Admits, computes, chooses and delivers, step by step, and leaves nobody waiting. Order is the scheduler's
business, tensors are the runner's, and what a caller may ask for is the engine's.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import torch

from kimi_sdk.engine.batch import Caches
from kimi_sdk.engine.generation import FinishReason
from kimi_sdk.engine.runner import Runner
from kimi_sdk.engine.sampler import Drawn, Sampler
from kimi_sdk.engine.scheduler import Chunk, Scheduler
from kimi_sdk.engine.sequence import Sequence
from kimi_sdk.engine.stats import Meter
from kimi_sdk.errors import EngineClosed, EngineError

if TYPE_CHECKING:
    from kimi_sdk.engine.k3 import K3


class Worker:
    """What the thread runs; knows no ``Engine``, so that a dropped engine can end it."""

    def __init__(self, model: K3, caches: Caches, *, step_tokens: int, vocab: int, threads: int) -> None:
        self.meter = Meter()
        self.active = 0
        self.caches = caches
        self._threads = threads
        self._scheduler = Scheduler(caches, step_tokens=step_tokens)
        self._runner = Runner(model, caches, self.meter)
        self._sampler = Sampler(vocab=vocab, meter=self.meter)
        _workers.add(self)
        self._inbox: SimpleQueue[Sequence | None] = SimpleQueue()
        self._lock = threading.RLock()  # a collector run inside it may drop the engine, and that stops us
        self._closed = False
        self._thread: threading.Thread | None = None

    # Any thread.

    def submit(self, sequence: Sequence) -> None:
        """Hand a sequence to the thread, which is started by the first one. Raises ``EngineClosed``."""
        with self._lock:
            if self._closed or _ending.is_set():
                raise EngineClosed("The engine has been closed; build a new one.")
            self.active += 1
            self._inbox.put(sequence)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="kimi-engine", daemon=True)
                _threads.difference_update([thread for thread in _threads if not thread.is_alive()])
                _threads.add(self._thread)
                self._thread.start()

    def stop(self) -> None:
        """Tell the thread to end; returns at once."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._inbox.put(None)

    def close(self) -> None:
        """Stop, and wait for the thread, unless this is the thread."""
        self.stop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def idle(self) -> bool:
        """Whether no request is left and everything is free."""
        slots, pages = self.caches.slots, self.caches.pages
        return self.active == 0 and slots.available == slots.count and pages.available == pages.count

    # The engine thread.

    def _run(self) -> None:
        """The thread's body: step until told to stop, then leave nobody waiting."""
        torch.set_num_threads(self._threads)
        try:
            with torch.inference_mode():
                while self._receive():
                    with self.meter.busy:
                        self._step()
        except BaseException as broken:
            self._abandon(broken)
            raise
        for sequence in (*self._scheduler.running, *self._scheduler.waiting):
            self._end(sequence, None, EngineClosed("The engine was closed while the request ran."))

    def _abandon(self, broken: BaseException) -> None:
        """The engine itself has failed: take no more requests and tell every reader; nothing is freed."""
        self.stop()
        left = [*self._scheduler.running, *self._scheduler.waiting]
        while (sequence := self._inbox.get()) is not None:
            left.append(sequence)
        for sequence in left:
            error = EngineClosed(f"The engine broke and has stopped: {type(broken).__name__}: {broken}")
            error.__cause__ = broken
            sequence.stream.end(None, error)

    def _receive(self) -> bool:
        """Queue what has been submitted, waiting for it if there is nothing else to do; False at the end."""
        while True:
            try:
                sequence = self._inbox.get(block=not self._scheduler.busy)
            except Empty:
                return True
            if sequence is None:
                return False
            self._scheduler.add(sequence)

    def _step(self) -> None:
        """Drop, admit, compute, choose, deliver."""
        for sequence in self._scheduler.aborted():
            self._end(sequence, "abort")
        for sequence in self._scheduler.admit():
            self._begin(sequence)
        chunks = self._scheduler.plan()
        if not chunks:
            return
        ready = [chunk.sequence for chunk in chunks if chunk.last]
        try:
            drawn = self._compute(chunks, ready)
        except Exception as error:
            for chunk in chunks:
                self._end(chunk.sequence, None, _failure(error, "The forward of a step failed"))
            return
        for sequence, token in zip(ready, drawn, strict=True):
            self._advance(sequence, token)

    def _begin(self, sequence: Sequence) -> None:
        """Make a sequence ready for its first chunk: features of its images, tokens its mask forces."""
        failure = None
        try:
            self._runner.look(sequence)
            sequence.begin()
        except Exception as error:
            failure = _failure(error, "The request failed before its first token")
        self._deliver(sequence, failure)

    def _compute(self, chunks: list[Chunk], ready: list[Sequence]) -> list[Drawn]:
        """Run the step, and choose a token for every sequence in ``ready``."""
        logits = self._runner.run(chunks)
        for chunk in chunks:
            chunk.sequence.cached += chunk.count
        return self._sampler.choose(logits, [sequence.draw for sequence in ready]) if ready else []

    def _advance(self, sequence: Sequence, drawn: Drawn) -> None:
        """Give a sequence its token, and what the token brings with it."""
        failure = None
        try:
            if isinstance(drawn, Exception):
                raise drawn
            sequence.advance(drawn)
        except Exception as error:
            failure = _failure(error, f"The request failed after {sequence.written} tokens")
        self._deliver(sequence, failure)

    def _deliver(self, sequence: Sequence, failure: EngineError | None) -> None:
        """Hand the reader what is new, and the end if it has come."""
        tokens = sequence.hand_over()
        if tokens:
            sequence.stream.push(tokens, sequence.usage)
        if failure is not None:
            self._end(sequence, None, failure)
        elif sequence.finish is not None:
            self._end(sequence, sequence.finish)

    def _end(self, sequence: Sequence, reason: FinishReason | None, error: Exception | None = None) -> None:
        """Free what a sequence holds, then tell its reader: who sees the end finds everything free."""
        self._scheduler.release(sequence)
        with self._lock:
            self.active -= 1
        sequence.stream.end(reason, error)


def _failure(error: Exception, what: str) -> EngineError:
    """The error that a reader gets; what is no ``EngineError`` becomes the cause of one."""
    if isinstance(error, EngineError):
        return error
    failure = EngineError(f"{what}: {type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure


_workers: weakref.WeakSet[Worker] = weakref.WeakSet()
# Threads by themselves: one whose worker has been dropped is told to end but may still be freeing tensors,
# which must not happen while Python goes down.
_threads: set[threading.Thread] = set()
_ending = threading.Event()


@atexit.register
def _close_all() -> None:
    """Leave no thread behind that computes, or frees, while Python goes down."""
    _ending.set()
    for worker in list(_workers):
        worker.stop()
    for thread in list(_threads):
        thread.join()
