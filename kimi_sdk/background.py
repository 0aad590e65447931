"""Work in threads of the event loop that Python must not go down under.

A thread that is inside native code when the interpreter ends is torn out of it, and that aborts the process.
Whoever runs such work there holds Python's end until it is done.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kimi_sdk.errors import EngineClosed

_changed = threading.Condition()
_held = 0
_ending = False


@contextmanager
def held() -> Iterator[None]:
    """Python waits at its end until the block is left. Raises EngineClosed once Python is ending."""
    global _held
    with _changed:
        if _ending:
            raise EngineClosed("Python is ending.")
        _held += 1
    try:
        yield
    finally:
        with _changed:
            _held -= 1
            _changed.notify_all()


def check() -> None:
    """For long work, now and then: raises EngineClosed once Python is ending."""
    if _ending:
        raise EngineClosed("Python is ending.")


@atexit.register
def _wait() -> None:
    global _ending
    with _changed:
        _ending = True
        _changed.wait_for(lambda: _held == 0)
