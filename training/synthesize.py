"""Random checkpoints of real width: `python -m training.synthesize OUT --layers 0,1,3`.

Knows which tensor wants which numbers: activations stay near one, keys of different tokens are alike, and
decays reach where K3's are known to reach. Bytes are drawn while they are written, so that size is no matter.
"""

from __future__ import annotations

import argparse
import json
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from kimi_sdk.engine.config import K3Config, TextConfig
from kimi_sdk.engine.keys import GROUP
from kimi_sdk.engine.manifest import Entry, blueprint, manifest
from kimi_sdk.engine.presets import k3, kimi_linear_48b
from kimi_sdk.engine.shards import Described, config_text, split, write_folder
from kimi_sdk.engine.slicing import slice_config
from kimi_sdk.errors import KimiError

_SPELLED = {torch.bfloat16: "BF16", torch.float32: "F32", torch.float16: "F16", torch.uint8: "U8"}
_PRESETS: dict[str, Callable[[], dict[str, Any]]] = {"k3": k3, "kimi-linear-48b": kimi_linear_48b}
_PART = 2**24
"""Elements that are drawn at a time."""
_SHARD = 4 * 2**30
_SLOWEST = 0.002
"""The slowest channels forget in about 500 tokens."""
_DECAY_NOISE = 0.1
"""How much a token moves its decay, before the rate: little, as in layers with long memories."""
_SATURATED = 0.1
"""Share of layer 0's channels that forget as fast as the bound allows."""
_RMS_E2M1 = 2.926
"""Root mean square of the sixteen MXFP4 codes."""


def fastest(layer: int) -> float:
    """Log-decay a token of a K3 layer's fastest channels that are not saturated.

    Over 32 tokens the released model's gates add up to -160, the bound, in layer 0, and to -56 in layer 1
    (public measurements of the first layers); later layers are taken to be like layer 1. Tokens move the
    fastest channels to these sums from a little below.
    """
    return 4.0 if layer == 0 else 1.5


class Drawer:
    """Draws the tensors of one config.

    Args:
        config: of the checkpoint that is written.
        layers: number in the whole model of each of its layers.
        seed: each tensor's numbers depend on it and on the tensor's name.
    """

    def __init__(self, config: K3Config, layers: Sequence[int], seed: int) -> None:
        self.text: TextConfig = config.text
        self.layers = tuple(layers)
        self.seed = seed

    def __call__(self, name: str, entry: Entry) -> Iterator[memoryview]:
        """The tensor's bytes, a part at a time."""
        generator = self._generator(name)
        rows = max(1, _PART // max(1, math.prod(entry.shape[1:])))
        context = self._shared(name, entry, generator)
        for start in range(0, entry.shape[0], rows):
            shape = (min(rows, entry.shape[0] - start), *entry.shape[1:])
            drawn = self._draw(name, entry, shape, generator, context)
            yield drawn.to(entry.dtype).contiguous().flatten().view(torch.uint8).numpy().data

    def _generator(self, name: str) -> torch.Generator:
        return torch.Generator().manual_seed(zlib.crc32(f"{self.seed} {name}".encode()))

    def _shared(self, name: str, entry: Entry, generator: torch.Generator) -> Tensor | None:
        """What all parts of a tensor have in common: the embedding's mean direction, whole small tensors."""
        if name.endswith("embed_tokens.weight"):
            return torch.randn(entry.shape[-1], generator=generator)
        if name.endswith("A_log"):
            return self._rates(name, entry.shape)
        if name.endswith("dt_bias"):
            return self._resting(name, generator)
        return None

    def _draw(
        self,
        name: str,
        entry: Entry,
        shape: tuple[int, ...],
        generator: torch.Generator,
        shared: Tensor | None,
    ) -> Tensor:
        fan_in = math.prod(shape[1:]) * (2 if entry.part == "packed" else GROUP if entry.part else 1)
        if entry.part == "packed":
            return torch.randint(256, shape, dtype=torch.uint8, generator=generator)
        if entry.part == "scale":
            middle = 127 + round(math.log2(fan_in**-0.5 / _RMS_E2M1))
            return torch.randint(middle - 1, middle + 2, shape, dtype=torch.uint8, generator=generator)
        if name.endswith(("A_log", "dt_bias")):
            assert shared is not None, "drawn as a whole"
            return shared
        noise = torch.randn(shape, generator=generator)
        owner = name.rsplit(".", 2)[-2]
        if shared is not None:
            return (noise + shared) * 0.5**0.5
        if "norm" in owner:
            return 1 + 0.1 * noise
        if owner.endswith("conv1d"):
            return 0.3 * noise + torch.tensor([0.0] * (shape[-1] - 1) + [0.5])
        if name.endswith("e_score_correction_bias"):
            return 0.01 * noise
        if owner == "pos_emb":
            return 0.02 * noise
        # Scores of the released model's attention residuals lie about 0.02 apart.
        gain = {"f_b_proj": _DECAY_NOISE, "self_attention_res_proj": 0.02, "mlp_res_proj": 0.02}
        return noise * (gain.get(owner, 0.02 if owner.endswith("res_proj") else 1.0) * fan_in**-0.5)

    def _rates(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """A_log: rates between 1 and 2, or Kimi-Linear's (mean 8, at most 201); the tail is zero."""
        heads = self.text.linear.heads
        generator = self._generator(name)
        if self.text.linear.gate_lower_bound is None:
            drawn = torch.randn(heads, generator=generator) * 1.2 + math.log(4)
            drawn = drawn.clamp(max=math.log(201))
        else:
            drawn = torch.log(1 + torch.rand(heads, generator=generator))
        return torch.cat((drawn, torch.zeros(math.prod(shape) - heads))).view(shape)

    def _resting(self, name: str, generator: torch.Generator) -> Tensor:
        """dt_bias: resting log-decays spread evenly, on a log scale, from slow to the layer's fastest."""
        linear = self.text.linear
        number = self.layers[int(name.split("layers.")[1].split(".")[0])]
        spread = torch.rand(linear.heads, linear.head_dim, generator=generator)
        decay = _SLOWEST * torch.exp(spread * math.log(fastest(number) / _SLOWEST))
        rate = self._rates(name.replace("dt_bias", "A_log"), (linear.heads,)).exp().unsqueeze(-1)
        if linear.gate_lower_bound is None:
            return torch.log(torch.expm1(decay / rate)).clamp(min=-20).flatten()
        resting = torch.logit(decay / -linear.gate_lower_bound)
        if number == 0:
            saturated = torch.rand(resting.shape, generator=generator) < _SATURATED
            resting = torch.where(saturated, 8.0, resting)
        return (resting / rate).flatten()


def synthesize(
    out: Path,
    raw: dict[str, Any],
    layers: Sequence[int],
    *,
    seed: int = 0,
    experts: int | None = None,
    vocab: int | None = None,
    vision: bool = True,
) -> int:
    """Writes a loadable checkpoint of chosen layers with random weights.

    Args:
        out: the folder, created if missing; weights that it holds are replaced.
        raw: the whole model's ``config.json``.
        layers: counted from 0.
        seed: of all numbers.
        experts: fewer experts a layer than the config has.
        vocab: a smaller vocabulary; ids of special tokens beyond it are left out.
        vision: whether the tower and projector are written too.

    Returns:
        bytes of all tensors.

    Raises:
        KimiError: the config or the layers cannot be a model.
    """
    raw = slice_config(raw, layers)
    body = raw.get("text_config", raw)
    if experts is not None:
        body["num_experts"] = experts
        body["num_experts_per_token"] = min(experts, body["num_experts_per_token"])
    if vocab is not None:
        body["vocab_size"] = vocab
        for key in [key for key in raw if key.endswith("token_id") and raw[key] >= vocab]:
            del raw[key]
    if not vision:
        raw.pop("vision_config", None)
    config = K3Config.from_dict(raw)
    entries = manifest(blueprint(config))
    draw = Drawer(config, layers, seed)
    described = {name: Described(_SPELLED[entry.dtype], entry.shape) for name, entry in entries.items()}
    out.mkdir(parents=True, exist_ok=True)
    total = write_folder(out, split(described, _SHARD), lambda name: draw(name, entries[name]))
    (out / "config.json").write_text(config_text(raw), "utf-8")
    return total


def main(argv: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--config", default="k3", help=f"{', '.join(_PRESETS)}, or a config.json")
    parser.add_argument("--layers", default="0,1,2,3", help="counted from 0 (default: %(default)s)")
    parser.add_argument("--experts", type=int, help="fewer experts than the config has")
    parser.add_argument("--vocab", type=int, help="a smaller vocabulary")
    parser.add_argument("--no-vision", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    preset = _PRESETS.get(options.config)
    try:
        raw = preset() if preset else json.loads(Path(options.config).read_text("utf-8"))
        layers = [int(part) for part in options.layers.split(",")]
        total = synthesize(
            options.out,
            raw,
            layers,
            seed=options.seed,
            experts=options.experts,
            vocab=options.vocab,
            vision=not options.no_vision,
        )
    except (KimiError, OSError, ValueError) as error:
        parser.error(str(error))
    print(f"{options.out}: {len(layers)} layers, {total:,} bytes of tensors")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
