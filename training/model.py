"""The engine's K3 run on packed rows: its own modules and weights, with the core operations swapped for
training.

What differs from the engine's forward is only how the same equations are computed: KDA by a differentiable
kernel, MLA by one attention call, every expert for every token with zero weights where it was not chosen,
images as padded batches. `tests/test_training_model.py` holds both equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from kimi_sdk.engine.attn_res import starts_block
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.kda import KDA
from kimi_sdk.engine.mla import MLA
from kimi_sdk.engine.moe import LatentMoE
from training.attention import AttentionOp, masked_attention
from training.delta import KdaOp, chunk_kda
from training.vision import ImageEncoder

RESET = 1e4
"""Decay input of padding, and minus its write logit: with K3's bound the four tokens of a gap leave e^-20 of
the state."""


class Outcome(NamedTuple):
    """What a forward gives."""

    loss: Tensor
    """Scalar: weighted mean of the targets' negative log-likelihoods."""
    nll: Tensor
    """[rows*T] fp32."""
    hit: Tensor
    """[rows*T] bool: the first choice is the target."""
    load: Tensor
    """[MoE layers, experts] fp32: tokens that chose each expert."""


@dataclass(frozen=True, slots=True)
class Operations:
    """The swapped core operations, and what to do with plain functions (`torch.compile` or nothing)."""

    kda: KdaOp = chunk_kda
    attention: AttentionOp = masked_attention
    compile: bool = False

    def prepare(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as it will be called."""
        return torch.compile(function, dynamic=False, fullgraph=True) if self.compile else function


def rms(rows: Tensor, weight: Tensor, eps: float) -> Tensor:
    """The engine's `rms_norm` in the form that fuses best."""
    wide = rows.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)).to(rows.dtype) * weight


def join(
    prefix: Tensor | None,
    added: Tensor,
    bank: tuple[Tensor, ...],
    query: tuple[Tensor, Tensor] | None,
    norm: Tensor,
    eps: float,
) -> tuple[Tensor, Tensor]:
    """Adds a sublayer's output to the prefix, mixes (`engine.attn_res.mix`) and normalises for the next
    sublayer.

    Args:
        prefix: [N, d], None where a block restarts.
        added: [N, d].
        bank: snapshots [N, d].
        query: norm weight [d] and projection weight [1, d] of the mix; read only with a bank.
        norm: weight [d] of the next sublayer's norm.
        eps: of both norms.

    Returns:
        the new prefix and the next sublayer's input, both [N, d].
    """
    prefix = added if prefix is None else prefix + added
    mixed = prefix
    if bank and query is not None:
        direction = query[0].float() * query[1].float().squeeze(0)
        wide = [source.float() for source in (*bank, prefix)]
        scores = [
            (source * direction).sum(-1, keepdim=True)
            * torch.rsqrt(source.square().mean(-1, keepdim=True) + eps)
            for source in wide
        ]
        shares = torch.softmax(torch.cat(scores, dim=-1), dim=-1)
        total = wide[0] * shares[:, :1]
        for i, source in enumerate(wide[1:], 1):
            total = total + source * shares[:, i : i + 1]
        mixed = total.to(prefix.dtype)
    return prefix, rms(mixed, norm, eps)


def kda_enter(kda: KDA, hidden: Tensor, segments: Tensor) -> tuple[Tensor, ...]:
    """Projections and the convolution within documents: q, k, v, u [rows, T, H, D], beta [rows, T, H], z [N,
    H, D]."""
    rows, length = segments.shape
    qkv, u, beta, z = kda.project(hidden)
    wide = qkv.view(rows, length, -1).float()
    taps = kda.conv_weight().squeeze(1).t()
    total = wide * taps[-1]
    for back in range(1, len(taps)):
        same = functional.pad(segments[:, :-back] == segments[:, back:], (back, 0))
        total = (
            total + functional.pad(wide[:, :-back], (0, 0, back, 0)) * same.unsqueeze(-1) * taps[-1 - back]
        )
    mixed = functional.silu(total).to(hidden.dtype).unflatten(-1, (3, kda.heads, kda.head_dim))
    q, k, v = (part.contiguous() for part in mixed.unbind(-3))
    u = u.reshape(rows, length, kda.heads, kda.head_dim)
    padding = (segments == 0).unsqueeze(-1)
    u = torch.where(padding.unsqueeze(-1), RESET, u)
    beta = torch.where(padding, -RESET, beta.reshape(rows, length, -1))
    return q, k, v, u.contiguous(), beta.contiguous(), z.contiguous()


def kda_leave(kda: KDA, out: Tensor, z: Tensor) -> Tensor:
    """Gated norm and output projection, [N, d]."""
    wide = out.reshape(z.shape).float()
    normal = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + kda.eps)
    gated = normal * kda.o_norm.weight.float() * torch.sigmoid(z.float())
    return kda.exit.joined(gated.to(z.dtype).flatten(-2))


def mla_enter(mla: MLA, hidden: Tensor) -> tuple[Tensor, ...]:
    """q, k, v [N, H, D] and the gate."""
    parts = mla.entry(hidden)
    q = parts[0]
    if mla.low_rank_q:
        q = mla.q_b_proj(rms(q, mla.q_a_layernorm.weight, mla.q_a_layernorm.eps))
    latent, shared = parts[1].split((mla.latent, mla.rope), dim=-1)
    latent = rms(latent, mla.kv_a_layernorm.weight, mla.kv_a_layernorm.eps)
    k, v = mla.expand(torch.cat((latent, shared), dim=-1))
    q = q.reshape(len(q), mla.heads, -1)
    return q.contiguous(), k.contiguous(), v.contiguous(), parts[2] if mla.gated else q


def mla_leave(mla: MLA, out: Tensor, z: Tensor) -> Tensor:
    """Gate and output projection, [N, d]."""
    return mla.finish(out, z if mla.gated else None)


def dense(mlp: nn.Module, hidden: Tensor) -> Tensor:
    """The dense feed-forward, [N, d]."""
    return mlp(hidden)  # type: ignore[no-any-return]


def choose(moe: LatentMoE, hidden: Tensor) -> Tensor:
    """`LatentMoE.route` as dense weights [N, experts] fp32, zero where an expert was not chosen."""
    scores = torch.sigmoid(functional.linear(hidden.float(), moe.gate.weight.float()))
    bias = moe.gate.e_score_correction_bias
    ranked = scores.detach() if bias is None else scores.detach() + bias.detach()
    index = torch.arange(scores.shape[-1], device=scores.device)
    above = (ranked[:, None, :] > ranked[:, :, None]) | (
        (ranked[:, None, :] == ranked[:, :, None]) & (index[None, None, :] < index[None, :, None])
    )
    weights = scores * (above.sum(-1) < moe.top_k)
    if moe.renormalize:
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
    return weights * moe.scaling


def experts(moe: LatentMoE, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """The whole mixture with every expert computed: output [N, d] and tokens per expert [experts]."""
    weights = choose(moe, hidden)
    w13, w2 = moe.experts.w13, moe.experts.w2
    count, latent, width = w2.shape
    both = functional.linear(moe.enter(hidden), w13.reshape(-1, latent)).view(-1, count, 2, width)
    inner = moe.experts.activation(both[:, :, 0], both[:, :, 1]) * weights.unsqueeze(-1)
    routed = functional.linear(inner.to(hidden.dtype).flatten(1), w2.transpose(0, 1).reshape(latent, -1))
    if moe.routed_expert_norm is not None:
        routed = rms(routed, moe.routed_expert_norm.weight, moe.routed_expert_norm.eps)
    if moe.routed_expert_up_proj is not None:
        routed = moe.routed_expert_up_proj(routed)
    if moe.shared_experts is not None:
        routed = routed + moe.shared_experts(hidden)
    return routed, (weights > 0).sum(0, dtype=torch.float32)


def head_loss(
    hidden: Tensor, weight: Tensor, targets: Tensor, shares: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Weighted loss, nll [N] and hits [N] from the final hidden rows."""
    logits = functional.linear(hidden, weight).float()
    top = logits.detach().amax(-1)
    column = torch.arange(logits.shape[-1], device=logits.device)
    # A masked sum and not a gather: its gradient fuses with the softmax's and fills no second [N, vocab].
    chosen = torch.where(column == targets.unsqueeze(-1), logits, 0.0).sum(-1)
    nll = torch.logsumexp(logits, dim=-1) - chosen
    loss = (nll * shares).sum() / shares.sum().clamp(min=1e-6)
    return loss, nll.detach(), chosen.detach() >= top


class TrainingModel(nn.Module):
    """The engine's K3 on rows of packed documents.

    Attributes:
        k3: the engine's model, unfused; its parameters are the ones trained.
        moe_layers: layers with experts.
        experts: experts of each.
        selection_biases: the routers' biases, moved by load and not by gradients.
    """

    def __init__(self, k3: K3, operations: Operations | None = None) -> None:
        super().__init__()
        self.k3 = k3
        operations = operations or Operations()
        self._kda, self._attention = operations.kda, operations.attention
        text = k3.config.text
        if text.linear.gate_lower_bound is None or text.block is None:
            raise ValueError("training wants K3's bounded decay and attention residuals")
        self._bound, self._block = text.linear.gate_lower_bound, text.block
        moes = [layer.block_sparse_moe for layer in k3.decoder.order if not layer.dense]
        self.moe_layers, self.experts = len(moes), text.moe.experts if text.moe else 0
        self.selection_biases = [moe.gate.e_score_correction_bias for moe in moes]
        for bias in self.selection_biases:
            assert bias is not None, "training balances the experts by their selection bias"
            bias.requires_grad_(False)
        prepare = operations.prepare
        self._join, self._dense, self._experts, self._head = (
            prepare(f) for f in (join, dense, experts, head_loss)
        )
        self._kda_enter, self._kda_leave = prepare(kda_enter), prepare(kda_leave)
        self._mla_enter, self._mla_leave = prepare(mla_enter), prepare(mla_leave)
        self.images = ImageEncoder.of(k3) if k3.config.vision else None
        self._encode = prepare(self.images.forward) if self.images else None

    def forward(self, batch: Mapping[str, Tensor]) -> Outcome:
        """Loss and statistics of a batch in the form of `training.rows.fixed`."""
        hidden, load = self.hidden(batch)
        weight = (self.k3.language_model.lm_head or self.k3.decoder.embed_tokens).weight
        shares = batch["weights"].flatten().float() * 0.01
        loss, nll, hit = self._head(hidden, weight, batch["targets"].flatten().long(), shares)
        return Outcome(loss, nll, hit, load)

    def hidden(self, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Final hidden rows [rows*T, d] and tokens per expert [MoE layers, experts]."""
        decoder = self.k3.decoder
        added, prefix = self._embed(batch), None
        bank: tuple[Tensor, ...] = ()
        loads = []
        for layer in decoder.order:
            eps = layer.input_layernorm.eps
            query = (layer.self_attention_res_norm.weight, layer.self_attention_res_proj.weight)
            prefix, x = self._join(
                prefix, added, bank, query if bank else None, layer.input_layernorm.weight, eps
            )
            added = self._attend(layer.self_attn, x, batch)
            if starts_block(layer.index, self._block):
                bank, prefix = (*bank, prefix), None
            query = (layer.mlp_res_norm.weight, layer.mlp_res_proj.weight)
            prefix, x = self._join(prefix, added, bank, query, layer.post_attention_layernorm.weight, eps)
            if layer.dense:
                added = self._dense(layer.mlp, x)
            else:
                added, load = self._experts(layer.block_sparse_moe, x)
                loads.append(load)
        query = (decoder.output_attn_res_norm.weight, decoder.output_attn_res_proj.weight)
        _, x = self._join(prefix, added, bank, query, decoder.norm.weight, decoder.norm.eps)
        return x, torch.stack(loads) if loads else x.new_zeros(0, 0)

    def _embed(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Token embeddings with image features in their places, [rows*T, d]."""
        hidden = functional.embedding(batch["ids"].flatten().long(), self.k3.decoder.embed_tokens.weight)
        if self._encode is None:
            return hidden
        features = self._encode(batch["patches"], batch["grids"]).flatten(0, 1).to(hidden.dtype)
        with_spare = torch.cat((hidden, hidden.new_zeros(1, hidden.shape[1])))
        return torch.index_copy(with_spare, 0, batch["places"].flatten().long(), features)[:-1]

    def _attend(self, layer: KDA | MLA, x: Tensor, batch: Mapping[str, Tensor]) -> Tensor:
        if isinstance(layer, KDA):
            q, k, v, u, beta, z = self._kda_enter(layer, x, batch["segments"])
            a_log = layer.A_log.flatten()[: layer.heads]
            return self._kda_leave(layer, self._kda(q, k, v, u, beta, a_log, layer.dt_bias, self._bound), z)
        q, k, v, z = self._mla_enter(layer, x)
        return self._mla_leave(
            layer, self._attention(q, k, v, batch["segments"], batch["bounds"], layer.scale), z
        )


def matrix_shape(name: str, parameter: nn.Parameter) -> tuple[int, int] | None:
    """Rows and columns of what Muon moves; None for embeddings, router, gates, convolutions and vectors.

    The patch embedding is a matrix over the 588 values of a patch.
    """
    last = name.rsplit(".", 2)[-2] if name.endswith(".weight") else name.rsplit(".", 1)[-1]
    if last in ("w13", "w2"):
        return (parameter.shape[1] // (2 if last == "w13" else 1), parameter.shape[2])
    spared = ("embed_tokens", "lm_head", "gate", "b_proj", "pos_emb")
    if name.endswith("patch_embed.proj.weight"):
        return (parameter.shape[0], parameter[0].numel())
    if parameter.ndim != 2 or last in spared or last.endswith("res_proj"):
        return None
    return (parameter.shape[0], parameter.shape[1])


def is_quantised(name: str) -> bool:
    """Whether the checkpoint stores the parameter in MXFP4."""
    return name.endswith(("experts.w13", "experts.w2")) and "shared" not in name


@torch.no_grad()
def initialise(k3: K3) -> None:
    """Softens the engine's random weights for training: what writes to the stream begins small, convolutions
    bounded."""
    for name, parameter in k3.named_parameters():
        last = name.rsplit(".", 2)[-2] if name.endswith(".weight") else name.rsplit(".", 1)[-1]
        if last in ("o_proj", "down_proj", "routed_expert_up_proj", "wo", "fc1"):
            parameter.mul_(0.3)
        elif last.endswith("conv1d"):
            parameter.clamp_(-1.0, 1.0)
