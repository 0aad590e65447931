"""Small checkpoints that foreign programs can read, and the engine's answers to compare theirs with."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from kimi_sdk.engine import checkpoint
from kimi_sdk.engine.batch import Batch
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.presets import tiny

VOCAB = 320
_ONLY_K3 = (
    "attn_res_block_size",
    "quantization_config",
    "routed_expert_hidden_size",
    "latent_moe_use_norm",
    "mla_use_output_gate",
    "activation_situ_beta",
    "activation_situ_linear_beta",
)


def raw_kimi_linear(*, q_lora_rank: int | None = None) -> dict[str, Any]:
    """A flat Kimi-Linear config: 6 layers in an irregular order, fp32 on disk, eps large enough to matter."""
    body: dict[str, Any] = copy.deepcopy(tiny(VOCAB, vision=False)["text_config"])
    for key in _ONLY_K3:
        del body[key]
    body |= {
        "architectures": ["KimiLinearForCausalLM"],
        "model_type": "kimi_linear",
        "dtype": "float32",
        "hidden_act": "silu",
        "num_hidden_layers": 6,
        "q_lora_rank": q_lora_rank,
        "num_experts": 8,
        "num_experts_per_token": 3,
        "num_shared_experts": 2,
        "routed_scaling_factor": 2.446,
        "bos_token_id": 0,
        "eos_token_id": VOCAB - 1,
        "pad_token_id": VOCAB - 2,
        "linear_attn_config": {
            "num_heads": 2,
            "head_dim": 32,
            "short_conv_kernel_size": 4,
            "kda_layers": [1, 2, 4, 6],
            "full_attn_layers": [3, 5],
        },
    }
    return body


def raw_k3() -> dict[str, Any]:
    """A K3 config with packed experts whose layer kinds follow no stride and whose last block is short."""
    raw = tiny(VOCAB, vision=False)
    raw |= {"bos_token_id": 0, "eos_token_id": VOCAB - 1, "pad_token_id": VOCAB - 2}
    raw["text_config"] |= {"num_hidden_layers": 5, "attn_res_block_size": 2}
    raw["text_config"]["linear_attn_config"] |= {"kda_layers": [1, 3, 4], "full_attn_layers": [2, 5]}
    return raw


def random_model(raw: dict[str, Any], seed: int = 1) -> K3:
    """Weights of a size at which each part of the model moves the logits, norms and biases included."""
    model = K3(K3Config.from_dict(raw), seed).requires_grad_(False)
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if "norm" in name:
            parameter.copy_(1 + 0.2 * noise)
        elif "embed_tokens" in name or "conv1d" in name:
            parameter.copy_(0.5 * noise)
        elif "lm_head" in name:
            parameter.copy_(0.25 * noise)
        elif name.endswith("e_score_correction_bias"):
            parameter.copy_(0.2 * noise)
        elif name.endswith("dt_bias"):
            parameter.copy_(noise)
        elif name.endswith("A_log"):
            parameter.zero_().view(-1)[: parameter_heads(model)] = noise.view(-1)[: parameter_heads(model)]
        elif parameter.dim() > 1:
            parameter.copy_(noise * 1.5 * parameter.shape[-1] ** -0.5)
    return model


def parameter_heads(model: K3) -> int:
    """Heads of the linear attention: entries of A_log that count."""
    return model.config.text.linear.heads


def saved(raw: dict[str, Any], folder: Path, seed: int = 1) -> K3:
    """A random model written to ``folder`` and read back, so that both sides see the very same values."""
    checkpoint.save(random_model(raw, seed), folder)
    return checkpoint.load(folder)


def prompt(length: int, vocab: int, seed: int = 3) -> list[int]:
    """Random ids."""
    return torch.randint(0, vocab, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


class Talk:
    """One sequence over its own caches."""

    def __init__(self, model: K3, tokens: int) -> None:
        self.model = model
        self.caches = model.caches(slots=1, pages=-(-tokens // 64))
        self.slot = self.caches.slots.allocate()
        self.pages = self.caches.pages.allocate(self.caches.pages.pages_for(tokens))
        self.done = 0

    def feed(self, ids: list[int]) -> Tensor:
        """Logits [n, vocab] of new tokens."""
        batch = Batch(lengths=[len(ids)], contexts=[self.done], slots=[self.slot], pages=[self.pages])
        with torch.inference_mode():
            hidden = self.model.forward(self.model.embed(torch.tensor(ids)), batch, self.caches)
            logits = self.model.logits(hidden)
        self.done += len(ids)
        return logits


def greedy(model: K3, ids: list[int], steps: int) -> tuple[list[int], Tensor]:
    """Greedy tokens after a prompt, one a step, and the logits [steps, vocab] that chose them."""
    talk = Talk(model, len(ids) + steps)
    rows = [talk.feed(ids)[-1]]
    for _ in range(steps - 1):
        rows.append(talk.feed([int(rows[-1].argmax())])[-1])
    return [int(row.argmax()) for row in rows], torch.stack(rows)


def distance(found: Tensor, wanted: Tensor) -> float:
    """Relative L2 distance."""
    return float((found.double() - wanted.double()).norm() / wanted.double().norm())
