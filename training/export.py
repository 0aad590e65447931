"""A training checkpoint becomes the product's: `python -m training.export FROM [TO]`.

Tensors get the released model's names, bf16, fp32 where K3 keeps fp32, MXFP4 for routed experts. Afterwards
the engine loads the folder and is compared with the training model on held-out documents.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from kimi_sdk.engine import checkpoint
from kimi_sdk.engine.batch import Batch
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.pages import PAGE
from training.corpus import documents, families
from training.data.document import Document, pack
from training.model import TrainingModel
from training.rows import GAP, Shape, fixed
from training.setup import WIDE, SetupError
from training.store import load

LARGEST = 12_000_000
"""Bytes that the bundled folder may take."""


@torch.no_grad()
def export(source: Path, target: Path) -> int:
    """Writes the checkpoint of `source` into `target`, which holds config.json.

    Returns:
        bytes of all files in the target folder.

    Raises:
        SetupError: tensors are missing or left over, or the folder is too large.
    """
    tensors, _ = load(source)
    k3 = K3(K3Config.load(target), seed=None)
    parameters = dict(k3.named_parameters())
    if parameters.keys() != tensors.keys():
        raise SetupError(
            f"{source} does not fit {target}: {sorted(parameters.keys() ^ tensors.keys())[:5]} ..."
        )
    for name, parameter in parameters.items():
        value = tensors[name]
        parameter.copy_(
            value if name.endswith(WIDE) else value.bfloat16() if "experts.w" not in name else value
        )
    checkpoint.save(k3, target)
    total = sum(file.stat().st_size for file in target.iterdir() if file.is_file())
    if total > LARGEST:
        raise SetupError(f"{target} holds {total} bytes, {LARGEST} are allowed")
    return total


@dataclass(frozen=True, slots=True)
class Agreement:
    """The engine against the training model on the same ids.

    Attributes:
        tokens: compared.
        same: share of equal first choices.
        difference: largest difference of logits.
    """

    tokens: int
    same: float
    difference: float


@torch.no_grad()
def agree(engine: K3, model: TrainingModel, chosen: Sequence[Document], pad: int) -> Agreement:
    """Compares logits document by document: the engine alone, the training model in packed rows.

    Args:
        engine: as loaded from the exported folder.
        model: over the same weights.
        chosen: documents of at most 2,048 tokens.
        pad: the padding token.
    """
    longest = max(len(document) for document in chosen)
    length = -(-longest // 64) * 64
    shape = Shape(
        rows=1, length=length, images=max(1, *(len(document.images) for document in chosen)), segments=length
    )
    tokens, same, difference = 0, 0.0, 0.0
    for document in chosen:
        packed = next(pack(repeat(document), 1, length, pad=pad, waiting=1, gap=GAP))
        batch = fixed(packed, shape, families_of(document))
        hidden, _ = model.hidden({name: torch.from_numpy(value) for name, value in batch.items()})
        count = len(document)
        ours = model.k3.logits(hidden[:count])
        theirs = engine_logits(engine, document)
        tokens += count
        same += float((ours.argmax(-1) == theirs.argmax(-1)).sum())
        difference = max(difference, float((ours - theirs).abs().max()))
    return Agreement(tokens, same / tokens, difference)


def families_of(document: Document) -> tuple[str, ...]:
    """All families, and the document's own even if it belongs to none of them."""
    known = families()
    return known if document.family in known else (*known, document.family)


@torch.no_grad()
def engine_logits(engine: K3, document: Document) -> Tensor:
    """The engine's logits of every token, [tokens, vocab]."""
    ids = torch.from_numpy(document.ids.astype(np.int64))
    hidden = engine.embed(ids)
    for image in document.images:
        pixels = (torch.from_numpy(image.patches).float() / 255.0 - 0.5) / 0.5
        features = engine.image_features(pixels.view(-1, 3, 14, 14), [(1, *image.grid)])
        hidden[image.start : image.start + len(features)] = features.to(hidden.dtype)
    pages = -(-len(ids) // PAGE)
    caches = engine.caches(slots=1, pages=pages)
    batch = Batch(lengths=[len(ids)], contexts=[0], slots=[0], pages=[list(range(pages))])
    return engine.logits(engine.forward(hidden, batch, caches))


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path, help="folder of a training checkpoint")
    parser.add_argument("target", type=Path, nargs="?", default=Path("kimi_sdk/checkpoints/k3-mini"))
    parser.add_argument("--documents", type=int, default=6, help="held-out documents to compare on")
    options = parser.parse_args()
    print(f"{export(options.source, options.target)} bytes in {options.target}")
    engine = checkpoint.load(options.target)
    model = TrainingModel(checkpoint.load(options.target).unfuse())
    stream = documents(options.target, None, seed=11)
    chosen = [
        document
        for document, _ in zip(stream, range(options.documents), strict=False)
        if len(document) <= 2048
    ]
    print(agree(engine, model, chosen, pad=engine.config.pad_token_id or 0))


if __name__ == "__main__":
    main()
