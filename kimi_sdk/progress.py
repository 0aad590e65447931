"""A bar on a terminal while a model checkpoint is read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Is told how many bytes were read, and how many there are."""


@contextmanager
def byte_bar(label: str) -> Iterator[Progress]:
    """Draws a bar on stderr, if that is a terminal; ``KIMI_SDK_PROGRESS=1`` draws it anyway, 0 never."""
    wish = os.environ.get("KIMI_SDK_PROGRESS")
    shown = sys.stderr.isatty() if wish is None else wish != "0"
    if not shown:
        yield _ignore
        return
    from tqdm import tqdm

    with tqdm(desc=label, unit="B", unit_scale=True, unit_divisor=1024, file=sys.stderr) as bar:

        def advance(read: int, total: int) -> None:
            bar.total = total
            bar.update(read - bar.n)

        yield advance


def _ignore(read: int, total: int) -> None:
    """Nobody looks."""
