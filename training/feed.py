"""Batches from worker processes: a bounded queue that is always full and dies with its parent.

What a batch holds is the producer's business (`training.rows`); this module only moves dictionaries of numpy
arrays. It must not import torch: the workers are forked before torch is, which keeps them small and the start
quick.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import queue
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.context import BaseContext
from typing import Any

import numpy as np

Batch = dict[str, np.ndarray[Any, Any]]
Producer = Callable[[int], Iterator[Batch]]
"""Called with a worker's seed in the worker; yields batches for ever."""


class FeedError(RuntimeError):
    """A worker failed or nothing arrived in time; the message holds the worker's traceback."""


def _die_with_parent(parent: int) -> None:
    """Asks Linux to end this process when its parent ends, however that happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _work(producer: Producer, seed: int, out: Any, parent: int) -> None:
    _die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for batch in producer(seed):
            out.put(batch)
    except BaseException:
        out.put(traceback.format_exc())
        raise


class Feed:
    """An endless iterator of batches.

    Args:
        producer: makes a worker's batches; for the start method "spawn" it must be picklable.
        workers: processes; 0 makes the batches in this process.
        seed: worker i works with seed + i.
        depth: batches that may wait per worker.
        method: multiprocessing start method.
        patience: seconds to wait for a batch before giving up.
    """

    def __init__(
        self,
        producer: Producer,
        *,
        workers: int,
        seed: int = 0,
        depth: int = 3,
        method: str = "fork",
        patience: float = 120.0,
    ) -> None:
        self.waited = 0.0
        """Seconds that the consumer has spent waiting: a starving feed shows here."""
        self._patience = patience
        self._processes: list[Any] = []
        self._inline = producer(seed) if workers == 0 else None
        if workers:
            context: BaseContext = multiprocessing.get_context(method)
            self._queue: Any = context.Queue(maxsize=depth * workers)
            for index in range(workers):
                arguments = (producer, seed + index, self._queue, os.getpid())
                process = context.Process(target=_work, args=arguments, daemon=True)  # type: ignore
                process.start()
                self._processes.append(process)

    def __iter__(self) -> Feed:
        return self

    def __next__(self) -> Batch:
        """The next batch.

        Raises:
            FeedError: a worker failed, or none delivered within `patience`.
        """
        if self._inline is not None:
            return next(self._inline)
        start = time.perf_counter()
        try:
            batch = self._queue.get(timeout=self._patience)
        except queue.Empty:
            alive = sum(process.is_alive() for process in self._processes)
            raise FeedError(f"no batch in {self._patience:.0f} s; {alive} workers alive") from None
        self.waited += time.perf_counter() - start
        if isinstance(batch, str):
            raise FeedError(f"a worker failed:\n{batch}")
        return dict(batch)

    def close(self) -> None:
        """Ends the workers."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join(timeout=5)
        if self._processes:
            self._queue.cancel_join_thread()
            self._queue.close()
        self._processes = []
