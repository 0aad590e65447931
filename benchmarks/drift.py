"""How far bf16 drifts from fp32: the stream layer by layer, the logits, and the choices that depend on them.

    python benchmarks/drift.py [--model SOURCE] [--tokens N] [--json]

SOURCE is a folder with a model checkpoint (the bundled one unless told), "tiny", or "deep": a random model of
26 layers in blocks of 12, as K3's are. A folder with a config but no weights is measured with random ones.
Without --model both the bundled model and the deep one are measured. Both modes read the same tokens: text of
the model's tokenizer where it has one, random ids elsewhere.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from torch import Tensor, nn

import kimi_sdk
from kimi_sdk.engine.batch import Batch
from kimi_sdk.engine.checkpoint import load, save
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.moe import LatentMoE
from kimi_sdk.engine.pages import PagePool
from kimi_sdk.engine.presets import tiny
from kimi_sdk.protocol.render import render
from kimi_sdk.protocol.tokenizer import Tokenizer
from kimi_sdk.tools.builtin import builtin_tools

BUNDLED = Path(kimi_sdk.__file__).parent / "checkpoints" / "k3-mini"
TALK = [
    {"role": "system", "content": "You answer briefly. Dates are written year first."},
    {
        "role": "user",
        "content": "How many days lie between 3 March and 19 May 2031, and which day is the last?",
    },
    {"role": "assistant", "content": "77 days lie between them. The last, 2031-05-19, is a Monday."},
    {"role": "user", "content": "Now convert 26.2 miles to kilometres, and tell me the capital of Norway."},
]


Route = tuple[Tensor, Tensor]
"""Experts [N, k] and their weights [N, k]."""


@dataclass(kw_only=True)
class Drift:
    """bf16 against fp32 on one sequence.

    Attributes:
        weights: "loaded" or "random".
        stream: relative L2 of the stream after each layer: all sources of the last mix, one beside another.
        stream_same_experts: the same where bf16 is made to choose fp32's experts: rounding alone. Empty
            without experts.
        experts: share of expert choices that are the same, over all layers; None without experts.
        logits: relative L2.
        argmax: share of positions whose best token is the same.
        argmax_sure: the same over positions where fp32's best token leads by more than 0.5.
        kl: mean KL divergence from fp32's distribution to bf16's, in nats.
        kl_max: the largest at one position.
        nll: mean nats that each mode gives to the text's next token: fp32, bf16.
    """

    model: str
    weights: str
    tokens: int
    stream: list[float]
    stream_same_experts: list[float]
    experts: float | None
    logits: float
    argmax: float
    argmax_sure: float
    kl: float
    kl_max: float
    nll: tuple[float, float]


@dataclass
class Seen:
    """What one mode computed: the stream after each layer, chosen experts and their weights, logits."""

    stream: list[Tensor]
    routes: list[Route]
    logits: Tensor


def deep_config() -> K3Config:
    """Random weights, width 128: blocks of 12, every fourth layer and the last of full attention."""
    layers = 26
    raw = tiny(1024, vision=False)
    full = [*range(4, layers, 4), layers]
    raw["text_config"] |= {
        "hidden_size": 128,
        "num_hidden_layers": layers,
        "attn_res_block_size": 12,
        "num_experts": 16,
        "num_experts_per_token": 4,
        "routed_expert_hidden_size": 64,
        "moe_intermediate_size": 64,
    }
    linear = raw["text_config"]["linear_attn_config"]
    linear["full_attn_layers"] = full
    linear["kda_layers"] = [layer for layer in range(1, layers + 1) if layer not in full]
    return K3Config.from_dict(raw)


def both_modes(source: str) -> tuple[K3, K3, str]:
    """The model in fp32 and in bf16, and where its weights are from."""
    folder = Path(source)
    if next(folder.glob("*.safetensors"), None) is not None:
        return load(folder, dtype="float32"), load(folder, dtype="bfloat16"), "loaded"
    presets = {"tiny": lambda: K3Config.tiny(vocab=8192, vision=False), "deep": deep_config}
    config = presets[source]() if source in presets else K3Config.load(folder)
    with tempfile.TemporaryDirectory() as place:
        save(K3(config).requires_grad_(False), place)
        return load(place, dtype="float32"), load(place, dtype="bfloat16"), "random"


def text_ids(source: str, vocab: int, tokens: int) -> list[int]:
    """The beginning of a rendered conversation with tools; random ids for a model without a tokenizer."""
    if not (Path(source) / "tiktoken.model").is_file():
        generator = torch.Generator().manual_seed(0)
        drawn: list[int] = torch.randint(vocab, (tokens,), generator=generator).tolist()
        return drawn
    tokenizer = Tokenizer.load(source)
    tools = [tool.declaration for tool in builtin_tools()]
    return list(render(TALK, tools=tools).encode(tokenizer).ids[:tokens])


@contextmanager
def watching(module: nn.Module, method: str, note: Callable[[Any], Any]) -> Iterator[None]:
    """Hands every result of the module's method to ``note``, and gives on what that returns."""
    original = getattr(module, method)
    setattr(module, method, lambda *arguments, **options: note(original(*arguments, **options)))
    try:
        yield
    finally:
        delattr(module, method)


@torch.inference_mode()
def look(model: K3, ids: list[int], routes: Sequence[Route] = ()) -> Seen:
    """One sequence through the model in one piece, perhaps with the experts that another run chose."""
    pages = PagePool.pages_for(len(ids))
    caches = model.caches(slots=1, pages=pages)
    batch = Batch(lengths=[len(ids)], contexts=[0], slots=[0], pages=[list(range(pages))])
    seen = Seen([], [], torch.empty(0))

    def note_layer(got: tuple[Tensor, tuple[Tensor, ...]]) -> tuple[Tensor, tuple[Tensor, ...]]:
        seen.stream.append(torch.cat([*got[1], got[0]], -1))
        return got

    def note_route(got: Route) -> Route:
        seen.routes.append(routes[len(seen.routes)] if routes else got)
        return seen.routes[-1]

    with ExitStack() as stack:
        for layer in model.decoder.order:
            stack.enter_context(watching(layer, "forward", note_layer))
            if isinstance(layer.feed_forward, LatentMoE):
                stack.enter_context(watching(layer.feed_forward, "route", note_route))
        seen.logits = model.logits(model.forward(model.embed(torch.tensor(ids)), batch, caches))
    return seen


def relative(found: Tensor, wanted: Tensor) -> float:
    """Relative L2 distance."""
    return float((found.double() - wanted.double()).norm() / wanted.double().norm())


def shared_choices(found: list[Route], wanted: list[Route]) -> float | None:
    """The share of chosen experts that both modes chose."""
    if not wanted:
        return None
    same = [
        (a.unsqueeze(-1) == b.unsqueeze(-2)).any(-1) for (a, _), (b, _) in zip(found, wanted, strict=True)
    ]
    return float(torch.cat(same).double().mean())


def measure(source: str, tokens: int) -> Drift:
    """Both modes over one text."""
    high, low, weights = both_modes(source)
    ids = text_ids(source, high.config.text.vocab, tokens)
    wanted, found = look(high, ids), look(low, ids)
    held = look(low, ids, wanted.routes).stream if wanted.routes else []
    exact = torch.log_softmax(wanted.logits.double(), -1)
    coarse = torch.log_softmax(found.logits.double(), -1)
    kl = (exact.exp() * (exact - coarse)).sum(-1)
    same = wanted.logits.argmax(-1) == found.logits.argmax(-1)
    best = wanted.logits.topk(2).values
    sure = best[:, 0] - best[:, 1] > 0.5
    following = torch.tensor(ids[1:]).unsqueeze(-1)
    nll = [-float(scores[:-1].gather(-1, following).mean()) for scores in (exact, coarse)]
    return Drift(
        model=Path(source).name,
        weights=weights,
        tokens=len(ids),
        stream=[relative(a, b) for a, b in zip(found.stream, wanted.stream, strict=True)],
        stream_same_experts=[relative(a, b) for a, b in zip(held, wanted.stream, strict=False)],
        experts=shared_choices(found.routes, wanted.routes),
        logits=relative(found.logits, wanted.logits),
        argmax=float(same.double().mean()),
        argmax_sure=float(same[sure].double().mean()) if bool(sure.any()) else 1.0,
        kl=float(kl.mean()),
        kl_max=float(kl.max()),
        nll=(nll[0], nll[1]),
    )


def lines(drift: Drift) -> Iterator[str]:
    """The result for a reader."""
    yield f"{drift.model}, {drift.weights} weights, {drift.tokens} tokens: bf16 against fp32"
    for name, stream in (("stream", drift.stream), ("with fp32's experts", drift.stream_same_experts)):
        for start in range(0, len(stream), 8):
            part = stream[start : start + 8]
            shown = " ".join(f"{value:.1e}" for value in part)
            yield f"  {name} after layers {start + 1} to {start + len(part)}: {shown}"
    if drift.experts is not None:
        yield f"  the same experts: {drift.experts:.2%} of choices"
    yield f"  logits: relative L2 {drift.logits:.1e}"
    yield f"  the same best token: {drift.argmax:.2%}, where fp32 is sure: {drift.argmax_sure:.2%}"
    yield f"  KL divergence: {drift.kl:.1e} nats on average, {drift.kl_max:.1e} at most"
    yield f"  nats for the next token: {drift.nll[0]:.4f} in fp32, {drift.nll[1]:.4f} in bf16"


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", metavar="SOURCE")
    parser.add_argument("--tokens", type=int, default=1024, help="most tokens of the text")
    parser.add_argument("--json", action="store_true", help="print one JSON list, an object a model")
    options = parser.parse_args(argv)
    bundled = [str(BUNDLED)] if (BUNDLED / "config.json").is_file() else []
    torch.set_num_threads(1)
    found = [
        measure(source, options.tokens)
        for source in ([options.model] if options.model else [*bundled, "deep"])
    ]
    if options.json:
        print(json.dumps([asdict(drift) for drift in found]))
    else:
        print("\n".join(line for drift in found for line in lines(drift)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
