"""Small configs of every kind of the family, and their random models with weights far from any symmetry."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from kimi_sdk.engine.batch import Batch, Caches
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.manifest import expert_view, manifest
from kimi_sdk.engine.moe import Experts
from kimi_sdk.engine.presets import tiny


def raw_k3(**changes: Any) -> dict[str, Any]:
    """The tiny K3 without vision, with keys of its text config changed."""
    raw = tiny(128, vision=False)
    linear = changes.pop("linear_attn_config", {})
    raw["text_config"].update(changes)
    raw["text_config"]["linear_attn_config"].update(linear)
    return raw


def raw_kimi_linear() -> dict[str, Any]:
    """Kimi-Linear: flat keys, plain residual, SwiGLU, softplus decay, low-rank gate, no latent."""
    body: dict[str, Any] = copy.deepcopy(tiny(128, vision=False)["text_config"])
    for key in (
        "attn_res_block_size",
        "quantization_config",
        "routed_expert_hidden_size",
        "mla_use_output_gate",
    ):
        del body[key]
    body.update(hidden_act="silu", q_lora_rank=None, routed_scaling_factor=2.446, dtype="bfloat16")
    linear = body["linear_attn_config"]
    linear.pop("gate_lower_bound")
    linear.pop("use_full_rank_gate")
    return body


def raw_irregular() -> dict[str, Any]:
    """Layer kinds without a stride, blocks that do not divide the layers, odd heads, a tied head."""
    return raw_k3(
        num_hidden_layers=7,
        attn_res_block_size=3,
        num_attention_heads=3,
        num_key_value_heads=3,
        q_lora_rank=24,
        num_shared_experts=2,
        tie_word_embeddings=True,
        linear_attn_config={
            "num_heads": 3,
            "head_dim": 32,
            "kda_layers": [1, 3, 4, 5],
            "full_attn_layers": [2, 6, 7],
        },
    ) | {"tie_word_embeddings": True}


VARIANTS = {"k3": raw_k3, "kimi-linear": raw_kimi_linear, "irregular": raw_irregular}


def random_model(raw: dict[str, Any], seed: int = 1) -> K3:
    """A model whose norms, biases and mixes are random too, so that none can be left out unnoticed."""
    model = K3(K3Config.from_dict(raw), seed).requires_grad_(False)
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if "norm" in name:
            parameter.copy_((1 + 0.1 * noise).bfloat16().float())
        elif "res_proj" in name:
            parameter.copy_((0.1 * noise).bfloat16().float())
        elif name.endswith("e_score_correction_bias"):
            parameter.copy_(0.1 * noise)
    return model


def on_disk_float64(model: K3) -> dict[str, NDArray[np.float64]]:
    """The model's tensors by their names on disk, experts unpacked."""
    modules = dict(model.named_modules())
    found = {}
    for name, entry in manifest(model).items():
        owner, _, last = entry.parameter.rpartition(".")
        module = modules[owner]
        if isinstance(module, Experts) and entry.expert is not None:
            value = expert_view(module, entry.expert, entry.matrix)
            name = name.removesuffix("_packed").removesuffix("_scale")
        else:
            value = getattr(module, last)
        found[name] = value.detach().double().numpy()
    return found


class Talk:
    """One sequence over its own slot and pages."""

    def __init__(self, caches: Caches, tokens: int) -> None:
        self.slot = caches.slots.allocate()
        self.pages = caches.pages.allocate(caches.pages.pages_for(tokens))
        self.done = 0


def step(model: K3, caches: Caches, talks: list[Talk], ids: list[list[int]]) -> list[torch.Tensor]:
    """One forward over several sequences; logits of each one's new tokens."""
    batch = Batch(
        lengths=[len(part) for part in ids],
        contexts=[talk.done for talk in talks],
        slots=[talk.slot for talk in talks],
        pages=[talk.pages for talk in talks],
    )
    packed = torch.tensor([token for part in ids for token in part])
    with torch.inference_mode():
        hidden = model.forward(model.embed(packed), batch, caches)
        logits = model.logits(hidden)
    for talk, part in zip(talks, ids, strict=True):
        talk.done += len(part)
    return list(logits.split(batch.lengths))


def run(model: K3, ids: list[int], splits: list[int]) -> torch.Tensor:
    """One sequence alone, cut into pieces; logits of all tokens."""
    assert sum(splits) == len(ids)
    caches = model.caches(slots=1, pages=caches_for(len(ids)))
    talk = Talk(caches, len(ids))
    parts, start = [], 0
    for size in splits:
        parts += step(model, caches, [talk], [ids[start : start + size]])
        start += size
    return torch.cat(parts)


def caches_for(tokens: int) -> int:
    """Pages for one sequence."""
    return -(-tokens // 64)


def distance(found: torch.Tensor, wanted: Any) -> float:
    """Relative L2 distance."""
    target = torch.as_tensor(wanted, dtype=torch.float64)
    return float((found.double() - target).norm() / target.norm())
