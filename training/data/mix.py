"""The mixture: documents of all families, drawn in the proportions of a stage, without end.

    tokenizer = Tokenizer.load("kimi_sdk/checkpoints/k3-mini")
    for batch in pack(Mix(seed=worker, tokenizer=tokenizer, stage="main"), rows=16, length=2048, pad=tokenizer.specials["[PAD]"]):
        ...

Every worker takes another seed. ``pack`` and the types are in ``document``; see ``Document`` and ``Batch``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Literal, Self, TypeAlias

from kimi_sdk.protocol.tokenizer import Tokenizer
from training.data import assistant, attributes, extraction, invented, labels, looking, typed_tools, words
from training.data.document import Batch as Batch
from training.data.document import Document as Document
from training.data.document import pack as pack
from training.data.encode import Encoder
from training.data.pictures import patchify
from training.data.sample import Sample

Stage: TypeAlias = Literal["copy", "main", "decay"]
Family: TypeAlias = Callable[[random.Random, bool], Sample]


def _parts(**parts: float) -> dict[str, float]:
    return parts


FAMILIES: dict[str, Family] = {
    "copy": assistant.copying,
    "shipped": assistant.shipped,
    "renamed": assistant.renamed,
    "invented": invented.invented,
    "chain": assistant.chained,
    "idle": assistant.idle,
    "extract": extraction.extract,
    "describe": attributes.describe,
    "pairs": extraction.pairs,
    "label": labels.label,
    "typed_tools": typed_tools.typed_tools,
    "look": looking.looking,
    "look_typed": looking.typed,
}
# Parts of the documents of a stage, by family. Documents differ in length: see README.md for the tokens.
STAGES: dict[Stage, dict[str, float]] = {
    "copy": _parts(
        copy=38, shipped=9, renamed=8, invented=9, chain=6, idle=5, typed_tools=1,
        extract=12, describe=12, pairs=16, label=8, look=100, look_typed=14,
    ),
    "main": _parts(
        copy=7, shipped=17, renamed=5, invented=12, chain=14, idle=8, typed_tools=4,
        extract=40, describe=22, pairs=9, label=15, look=88, look_typed=22,
    ),
    "decay": _parts(
        copy=4, shipped=18, renamed=4, invented=11, chain=17, idle=8, typed_tools=5,
        extract=40, describe=18, pairs=6, label=15, look=88, look_typed=22,
    ),
}  # fmt: skip


def letter_pieces(tokenizer: Tokenizer) -> list[str]:
    """Base tokens that are two to five lower-case letters: what ``piece_word`` builds words from."""
    pieces = []
    for number in range(tokenizer.base_size):
        text = tokenizer.token_bytes(number).decode("utf-8", "replace").strip()
        if text.isascii() and text.isalpha() and text.islower() and 2 <= len(text) <= 5:
            pieces.append(text)
    return pieces


class Mix:
    """An endless iterator of training documents.

    Args:
        seed: of everything; workers of one run take different ones.
        tokenizer: the product's tokenizer of the model that is trained.
        stage: which proportions.
        held: draw held-out frames and values instead (for evaluation only).
    """

    def __init__(self, seed: int, tokenizer: Tokenizer, stage: Stage = "main", *, held: bool = False) -> None:
        words.use_pieces(letter_pieces(tokenizer))
        self.rng = random.Random(f"{seed}-{stage}-{held}")
        self.encoder = Encoder(tokenizer, patchify)
        self.held = held
        self.stage = stage

    @property
    def stage(self) -> Stage:
        return self._stage

    @stage.setter
    def stage(self, stage: Stage) -> None:
        """May be changed at any time: later documents follow the new proportions."""
        self._stage = stage
        self._names = list(STAGES[stage])
        self._weights = list(STAGES[stage].values())

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Document:
        family = self.rng.choices(self._names, self._weights)[0]
        return self.document(family)

    def sample(self, family: str) -> Sample:
        """One conversation of a family, not encoded."""
        return FAMILIES[family](self.rng, self.held)

    def document(self, family: str) -> Document:
        """One document of a family."""
        return self.encoder.encode(self.sample(family), family)


def heldout_documents(
    family: str, count: int, seed: int, tokenizer: Tokenizer, longest: int = 2048
) -> list[Document]:
    """Documents of held-out frames and values, for loss and teacher-forced accuracy by family.

    ``weights >= ASSISTANT`` marks what the model writes; each maximal run of it is one turn.
    """
    mix = Mix(seed, tokenizer, held=True)
    made: list[Document] = []
    while len(made) < count:
        document = mix.document(family)
        if len(document) <= longest:
            made.append(document)
    return made


def stream(seed: int, tokenizer: Tokenizer, stage: Stage = "main") -> Iterator[Document]:
    """``Mix`` as a plain generator."""
    yield from Mix(seed, tokenizer, stage)
