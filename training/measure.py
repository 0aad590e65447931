"""What a run reports: loss and whole-turn accuracy by family, and a log of JSON lines."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from training.feed import Batch
from training.rows import ASSISTANT, turns

Array = np.ndarray[Any, Any]


def losses(batch: Batch, nll: Array, families: Sequence[str]) -> dict[str, float]:
    """Mean loss on the assistant's own tokens, over all ("all") and by family.

    Args:
        batch: as trained on.
        nll: [rows * length] in nats.
        families: names by number.
    """
    own = (batch["weights"] >= ASSISTANT).reshape(-1)
    family = batch["family"].reshape(-1)[own]
    nll = nll[own]
    out = {"all": float(nll.mean())} if len(nll) else {}
    for number, name in enumerate(families):
        part = nll[family == number]
        if len(part):
            out[name] = float(part.mean())
    return out


class TurnAccuracy:
    """Share of assistant turns whose every token is the model's first choice, given the right words before
    it."""

    def __init__(self, families: Sequence[str]) -> None:
        self._families = families
        self._right = np.zeros(len(families), np.int64)
        self._all = np.zeros(len(families), np.int64)

    def add(self, batch: Batch, hit: Array) -> None:
        """Counts a batch; hit [rows * length] is true where the first choice is the target."""
        numbers, family = turns(batch)
        whole = np.ones(len(family), bool)
        wrong = numbers[(numbers >= 0) & ~hit]
        whole[wrong] = False
        np.add.at(self._right, family[whole], 1)
        np.add.at(self._all, family, 1)

    def table(self) -> dict[str, tuple[float, int]]:
        """Accuracy and number of turns by family, and under "all" over every turn."""
        out = {"all": (float(self._right.sum() / max(1, self._all.sum())), int(self._all.sum()))}
        for name, right, count in zip(self._families, self._right, self._all, strict=True):
            if count:
                out[name] = (float(right / count), int(count))
        return out


class Log:
    """Prints a line and appends it to a JSON-lines file."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._start = time.monotonic()

    def __call__(self, kind: str, text: str, **values: object) -> None:
        """One event: `text` for people, `values` for machines."""
        seconds = time.monotonic() - self._start
        print(f"[{seconds:7.1f}s] {text}", flush=True)
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"kind": kind, "at": round(seconds, 1), "text": text, **values}) + "\n")
