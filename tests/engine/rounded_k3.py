"""The layers' equations in float64 with bf16 rounding where docs/numerics.md says, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from reference_k3 import Array, delta_rule, mix, sigmoid, silu, situ, under


def r(x: Array) -> Array:
    """Rounded to bf16."""
    return torch.from_numpy(np.ascontiguousarray(x)).bfloat16().double().numpy()


def product(x: Array, weight: Array) -> Array:
    return r(x @ weight.T)


def rms(x: Array, weight: Array, eps: float) -> Array:
    return r(r(x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)) * weight)


def kda(x: Array, w: Mapping[str, Array], linear: Mapping[str, Any], eps: float) -> Array:
    heads, dim = linear["num_heads"], linear["head_dim"]
    shape = (len(x), heads, dim)
    parts = []
    for name in "qkv":
        raw, taps = product(x, w[f"{name}_proj.weight"]), w[f"{name}_conv1d.weight"][:, 0, :]
        padded = np.concatenate([np.zeros((taps.shape[1] - 1, raw.shape[1])), raw])
        mixed = [(padded[t : t + taps.shape[1]] * taps.T).sum(0) for t in range(len(x))]
        parts.append(r(silu(np.stack(mixed))).reshape(shape))
    q, k, v = parts
    q = q / np.sqrt((q * q).sum(-1, keepdims=True) + 1e-6) * dim**-0.5
    k = k / np.sqrt((k * k).sum(-1, keepdims=True) + 1e-6)
    u = product(product(x, w["f_a_proj.weight"]), w["f_b_proj.weight"]).reshape(shape)
    u = u + w["dt_bias"].reshape(heads, dim)
    rate, bound = np.exp(w["A_log"].reshape(-1)[:heads])[:, None], linear.get("gate_lower_bound")
    g = -rate * np.logaddexp(0, u) if bound is None else bound * sigmoid(rate * u)
    beta = sigmoid(product(x, w["b_proj.weight"]))
    if linear.get("use_full_rank_gate"):
        z = product(x, w["g_proj.weight"]).reshape(shape)
    else:
        z = product(product(x, w["g_a_proj.weight"]), w["g_b_proj.weight"]).reshape(shape)
    out = np.zeros(shape)
    for h in range(heads):
        out[:, h], _ = delta_rule(q[:, h], k[:, h], v[:, h], g[:, h], beta[:, h], np.zeros((dim, dim)))
    out = out / np.sqrt(np.mean(out * out, axis=-1, keepdims=True) + eps) * w["o_norm.weight"] * sigmoid(z)
    return product(r(out).reshape(len(x), -1), w["o_proj.weight"])


def mla(x: Array, w: Mapping[str, Array], text: Mapping[str, Any], *, absorbed: bool) -> Array:
    heads, latent = text["num_attention_heads"], text["kv_lora_rank"]
    nope, rope, v_dim = text["qk_nope_head_dim"], text["qk_rope_head_dim"], text["v_head_dim"]
    if text.get("q_lora_rank"):
        q = rms(product(x, w["q_a_proj.weight"]), w["q_a_layernorm.weight"], 1e-6)
        q = product(q, w["q_b_proj.weight"])
    else:
        q = product(x, w["q_proj.weight"])
    q = q.reshape(len(x), heads, nope + rope)
    compressed = product(x, w["kv_a_proj_with_mqa.weight"])
    c, shared = rms(compressed[:, :latent], w["kv_a_layernorm.weight"], 1e-6), compressed[:, latent:]
    per_head = w["kv_b_proj.weight"].reshape(heads, nope + v_dim, latent)
    out = np.zeros((len(x), heads, v_dim))
    for h in range(heads):
        w_k, w_v = per_head[h, :nope], per_head[h, nope:]
        if absorbed:
            queries = np.concatenate([r(q[:, h, :nope] @ w_k), q[:, h, nope:]], axis=1)
            keys, values = np.concatenate([c, shared], axis=1), c
        else:
            queries = q[:, h]
            keys, values = np.concatenate([r(c @ w_k.T), shared], axis=1), r(c @ w_v.T)
        for t in range(len(x)):
            scores = keys[: t + 1] @ queries[t] * (nope + rope) ** -0.5
            p = np.exp(scores - scores.max())
            # Blockwise attention over expanded keys takes its exponentials in bf16 and their sum in fp32.
            read = r((p if absorbed else r(p)) @ values[: t + 1] / p.sum())
            out[t, h] = r(w_v @ read) if absorbed else read
    flat = out.reshape(len(x), -1)
    if text.get("mla_use_output_gate"):
        flat = r(flat * r(sigmoid(product(x, w["g_proj.weight"]))))
    return product(flat, w["o_proj.weight"])


def mlp(x: Array, w: Mapping[str, Array], text: Mapping[str, Any]) -> Array:
    inner = activation(product(x, w["gate_proj.weight"]), product(x, w["up_proj.weight"]), text)
    return product(inner, w["down_proj.weight"])


def activation(gate: Array, up: Array, text: Mapping[str, Any]) -> Array:
    if text["hidden_act"] == "situ":
        return r(situ(gate, up, text["activation_situ_beta"], text["activation_situ_linear_beta"]))
    return r(r(silu(gate)) * up)


def moe(x: Array, w: Mapping[str, Array], text: Mapping[str, Any]) -> Array:
    scores = sigmoid(x @ w["gate.weight"].T)
    ranked = scores + w.get("gate.e_score_correction_bias", 0.0)
    z = product(x, w["routed_expert_down_proj.weight"]) if "routed_expert_down_proj.weight" in w else x
    y = np.zeros_like(z)
    for t in range(len(x)):
        chosen = np.argsort(-ranked[t], kind="stable")[: text["num_experts_per_token"]]
        for e in chosen:
            gate, up = (product(z[t], w[f"experts.{e}.{name}.weight"]) for name in ("w1", "w3"))
            share = scores[t, e] / scores[t, chosen].sum() * text["routed_scaling_factor"]
            y[t] += share * product(activation(gate, up, text), w[f"experts.{e}.w2.weight"])
    y = r(y)
    if "routed_expert_norm.weight" in w:
        y = rms(y, w["routed_expert_norm.weight"], text["rms_norm_eps"])
    if "routed_expert_up_proj.weight" in w:
        y = product(y, w["routed_expert_up_proj.weight"])
    shared = under(w, "shared_experts.")
    return r(y + mlp(x, shared, text)) if shared else y


def site(name: str, w: Mapping[str, Array], prefix: Array, bank: list[Array], eps: float) -> Array:
    return r(mix(prefix, bank, w[f"{name}_norm.weight"], w[f"{name}_proj.weight"], eps)) if bank else prefix
