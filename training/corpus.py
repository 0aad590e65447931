"""The data as the trainer wants it: endless documents of the mixture, whose stage the trainer moves while
workers run."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from kimi_sdk.protocol.tokenizer import Tokenizer
from training.data.document import Document
from training.data.mix import FAMILIES, STAGES, Mix
from training.feed import Batch
from training.rows import Shape, producer

ORDER = ("copy", "main", "decay")


def families() -> tuple[str, ...]:
    """Names of all families; a family's number is its place here."""
    return tuple(sorted(FAMILIES))


class StageDial:
    """The stage of the mixture, shared with the workers."""

    def __init__(self) -> None:
        assert set(ORDER) == set(STAGES)
        self._number: Any = multiprocessing.get_context("fork").Value("i", 0)

    @property
    def stage(self) -> str:
        """Name of the present stage."""
        return ORDER[self._number.value]

    @stage.setter
    def stage(self, name: str) -> None:
        self._number.value = ORDER.index(name)


def documents(folder: Path, dial: StageDial | None, seed: int) -> Iterator[Document]:
    """Documents without end: of the dial's stage, or held-out ones of the main stage without a dial."""
    mix = Mix(seed, Tokenizer.load(folder), "main", held=dial is None)
    while True:
        if dial is not None and dial.stage != mix.stage:
            mix.stage = dial.stage  # type: ignore[assignment]
        yield next(mix)


def source(folder: Path, shape: Shape, dial: StageDial | None) -> Callable[[int], Iterator[Batch]]:
    """A feed's producer over the model's tokenizer; without a dial it is the held-out set."""
    pad = Tokenizer.load(folder).specials["[PAD]"]
    return producer(partial(documents, folder, dial), shape, families(), pad)
