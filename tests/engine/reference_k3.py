"""K3 in float64 from its equations, one token and one head at a time: slow, plain, written apart.

Reads a dict of tensors under their names on disk (unpacked experts) and gives what the engine must give.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def sigmoid(x: Array) -> Array:
    return np.exp(-np.logaddexp(0.0, -x))


def silu(x: Array) -> Array:
    return x * sigmoid(x)


def rms(x: Array, weight: Array | float, eps: float) -> Array:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def situ(gate: Array, up: Array, beta: float, linear_beta: float) -> Array:
    return beta * np.tanh(gate / beta) * sigmoid(gate) * linear_beta * np.tanh(up / linear_beta)


def delta_rule(q: Array, k: Array, v: Array, g: Array, beta: Array, state: Array) -> tuple[Array, Array]:
    """One head: q, k, g [T, K]; v [T, V]; beta [T]; state [V, K]."""
    outputs = []
    for t in range(len(q)):
        state = state * np.exp(g[t])[None, :]
        error = beta[t] * (v[t] - state @ k[t])
        state = state + np.outer(error, k[t])
        outputs.append(state @ q[t])
    return np.array(outputs).reshape(len(q), v.shape[1]), state


def kda(x: Array, w: Mapping[str, Array], linear: Mapping[str, Any], eps: float) -> Array:
    heads, dim = linear["num_heads"], linear["head_dim"]
    length = len(x)
    parts = []
    for name in "qkv":
        raw = x @ w[f"{name}_proj.weight"].T
        taps = w[f"{name}_conv1d.weight"][:, 0, :]
        width = taps.shape[1]
        padded = np.concatenate([np.zeros((width - 1, raw.shape[1])), raw])
        mixed = np.stack([(padded[t : t + width] * taps.T).sum(0) for t in range(length)])
        parts.append(silu(mixed).reshape(length, heads, dim))
    q, k, v = parts
    q = q / np.sqrt((q * q).sum(-1, keepdims=True) + 1e-6) * dim**-0.5
    k = k / np.sqrt((k * k).sum(-1, keepdims=True) + 1e-6)
    u = (x @ w["f_a_proj.weight"].T @ w["f_b_proj.weight"].T).reshape(length, heads, dim)
    u = u + w["dt_bias"].reshape(heads, dim)
    rate = np.exp(w["A_log"].reshape(-1)[:heads])[:, None]
    bound = linear.get("gate_lower_bound")
    g = -rate * np.logaddexp(0, u) if bound is None else bound * sigmoid(rate * u)
    beta = sigmoid(x @ w["b_proj.weight"].T)
    if linear.get("use_full_rank_gate"):
        z = x @ w["g_proj.weight"].T
    else:
        z = x @ w["g_a_proj.weight"].T @ w["g_b_proj.weight"].T
    z = z.reshape(length, heads, dim)
    out = np.zeros((length, heads, dim))
    for h in range(heads):
        out[:, h], _ = delta_rule(q[:, h], k[:, h], v[:, h], g[:, h], beta[:, h], np.zeros((dim, dim)))
    out = rms(out, w["o_norm.weight"], eps) * sigmoid(z)
    return out.reshape(length, -1) @ w["o_proj.weight"].T


def mla(x: Array, w: Mapping[str, Array], text: Mapping[str, Any]) -> Array:
    heads, latent = text["num_attention_heads"], text["kv_lora_rank"]
    nope, rope, v_dim = text["qk_nope_head_dim"], text["qk_rope_head_dim"], text["v_head_dim"]
    length = len(x)
    if text.get("q_lora_rank"):
        q = rms(x @ w["q_a_proj.weight"].T, w["q_a_layernorm.weight"], 1e-6) @ w["q_b_proj.weight"].T
    else:
        q = x @ w["q_proj.weight"].T
    q = q.reshape(length, heads, nope + rope)
    compressed = x @ w["kv_a_proj_with_mqa.weight"].T
    c = rms(compressed[:, :latent], w["kv_a_layernorm.weight"], 1e-6)
    shared = compressed[:, latent:]
    kv = (c @ w["kv_b_proj.weight"].T).reshape(length, heads, nope + v_dim)
    out = np.zeros((length, heads, v_dim))
    for t in range(length):
        for h in range(heads):
            keys = np.concatenate([kv[: t + 1, h, :nope], shared[: t + 1]], axis=1)
            scores = keys @ q[t, h] * (nope + rope) ** -0.5
            p = np.exp(scores - scores.max())
            out[t, h] = (p / p.sum()) @ kv[: t + 1, h, nope:]
    flat = out.reshape(length, -1)
    if text.get("mla_use_output_gate"):
        flat = flat * sigmoid(x @ w["g_proj.weight"].T)
    return flat @ w["o_proj.weight"].T


def mlp(x: Array, w: Mapping[str, Array], text: Mapping[str, Any]) -> Array:
    gate, up = x @ w["gate_proj.weight"].T, x @ w["up_proj.weight"].T
    return activation(gate, up, text) @ w["down_proj.weight"].T


def activation(gate: Array, up: Array, text: Mapping[str, Any]) -> Array:
    if text["hidden_act"] == "situ":
        return situ(gate, up, text["activation_situ_beta"], text["activation_situ_linear_beta"])
    return silu(gate) * up


def moe(x: Array, w: Mapping[str, Array], text: Mapping[str, Any]) -> Array:
    scores = sigmoid(x @ w["gate.weight"].T)
    bias = w.get("gate.e_score_correction_bias", 0.0)
    z = x @ w["routed_expert_down_proj.weight"].T if "routed_expert_down_proj.weight" in w else x
    y = np.zeros_like(z)
    for t in range(len(x)):
        ranked = scores[t] + bias
        chosen = sorted(range(len(ranked)), key=lambda e: (-ranked[e], e))[: text["num_experts_per_token"]]
        total = sum(scores[t, e] for e in chosen) + 1e-20
        for e in chosen:
            weight = scores[t, e] / (total if text["moe_renormalize"] else 1.0)
            gate, up = w[f"experts.{e}.w1.weight"] @ z[t], w[f"experts.{e}.w3.weight"] @ z[t]
            y[t] += (
                weight
                * text["routed_scaling_factor"]
                * (w[f"experts.{e}.w2.weight"] @ activation(gate, up, text))
            )
    if "routed_expert_norm.weight" in w:
        y = rms(y, w["routed_expert_norm.weight"], text["rms_norm_eps"])
    if "routed_expert_up_proj.weight" in w:
        y = y @ w["routed_expert_up_proj.weight"].T
    shared = under(w, "shared_experts.")
    return y + mlp(x, shared, text) if shared else y


def mix(prefix: Array, bank: list[Array], norm: Array, proj: Array, eps: float) -> Array:
    out = np.zeros_like(prefix)
    for t in range(len(prefix)):
        sources = [snapshot[t] for snapshot in bank] + [prefix[t]]
        scores = np.array([(rms(s, 1.0, eps) * norm * proj[0]).sum() for s in sources])
        share = np.exp(scores - scores.max())
        out[t] = sum(a * s for a, s in zip(share / share.sum(), sources, strict=True))
    return out


def under(w: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {name[len(prefix) :]: value for name, value in w.items() if name.startswith(prefix)}


def site(name: str, w: Mapping[str, Array], prefix: Array, bank: list[Array], eps: float) -> Array:
    return mix(prefix, bank, w[f"{name}_norm.weight"], w[f"{name}_proj.weight"], eps) if bank else prefix


def decoder_layer(
    text: Mapping[str, Any], w: Mapping[str, Array], index: int, p: Array, bank: list[Array]
) -> tuple[Array, list[Array]]:
    """One layer counted from 0: the stream's prefix and snapshots before it -> after it."""
    eps, block = text["rms_norm_eps"], text.get("attn_res_block_size")
    x = rms(site("self_attention_res", w, p, bank, eps), w["input_layernorm.weight"], eps)
    attention = under(w, "self_attn.")
    if index + 1 in text["linear_attn_config"]["kda_layers"]:
        a = kda(x, attention, text["linear_attn_config"], eps)
    else:
        a = mla(x, attention, text)
    if block and index % block == 0:
        bank, p = [*bank, p], a
    else:
        p = p + a
    x = rms(site("mlp_res", w, p, bank, eps), w["post_attention_layernorm.weight"], eps)
    if index < text["first_k_dense_replace"]:
        return p + mlp(x, under(w, "mlp."), text), bank
    return p + moe(x, under(w, "block_sparse_moe."), text), bank


def forward(raw: Mapping[str, Any], tensors: Mapping[str, Array], ids: list[int]) -> Array:
    """Logits [T, vocab] of one sequence."""
    text = raw.get("text_config", raw)
    tensors = {name.removeprefix("language_model."): value for name, value in tensors.items()}
    w = under(tensors, "model.")
    eps = text["rms_norm_eps"]
    p = w["embed_tokens.weight"][ids]
    bank: list[Array] = []

    for index in range(text["num_hidden_layers"]):
        p, bank = decoder_layer(text, under(w, f"layers.{index}."), index, p, bank)
    x = rms(site("output_attn_res", w, p, bank, eps), w["norm.weight"], eps)
    head = tensors.get("lm_head.weight", w["embed_tokens.weight"])
    return x @ head.T
