"""A KDA layer over slots: sequences with one new token step their states, longer ones go chunk by chunk.

Knows how a batch's plan, the slot pool and the delta rule meet; leaves the layer's own maths to ``kda``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from kimi_sdk.engine.batch import Batch, ChunkPlan, SinglePlan
from kimi_sdk.engine.delta_rule import chunk_delta_rule, recurrent_step
from kimi_sdk.engine.kda import KDA, Projected, short_conv


def attend_slots(layer: KDA, hidden: Tensor, batch: Batch, recurrent: Tensor, conv: Tensor) -> Tensor:
    """One layer's attention for the whole batch; writes the sequences' states.

    Args:
        layer: the weights.
        hidden: [N, d], normed.
        batch: who is who.
        recurrent: [slots, H, V, K] fp32.
        conv: [slots, W - 1, 3*H*D].

    Returns:
        [N, d].
    """
    projected = layer.project(hidden)
    singles, chunks = batch.singles, batch.chunks(layer.conv_size)
    if chunks is None:
        assert singles is not None, "a batch holds sequences"
        return layer.finish(_step(layer, projected, singles, recurrent, conv), projected.z)
    o = projected.z.new_empty(projected.z.shape, dtype=torch.float32)
    if singles is not None:
        rows = singles.rows
        chosen = Projected(projected.qkv[rows], projected.u[rows], projected.beta[rows], projected.z)
        o[rows] = _step(layer, chosen, singles, recurrent, conv)
    o[chunks.tokens] = _chunks(layer, projected, chunks, recurrent, conv)
    return layer.finish(o, projected.z)


def _step(layer: KDA, projected: Projected, plan: SinglePlan, recurrent: Tensor, conv: Tensor) -> Tensor:
    """One token of S sequences -> o [S, H, V]."""
    where = plan.slots if plan.run is None else plan.run
    inputs = conv[where]
    window = torch.cat((inputs, projected.qkv.unsqueeze(1)), dim=1)
    latest = window.narrow(1, 1, inputs.shape[1])
    if plan.run is None:
        conv[where] = latest
    else:
        inputs.copy_(latest)
    mixed = short_conv(window, layer.taps()).squeeze(1).to(projected.qkv.dtype)
    q, k, v = layer.heads_of(mixed)
    beta = torch.sigmoid(projected.beta.float())
    state = recurrent[where]
    out, state = recurrent_step(state, q, k, v, layer.decay(projected.u), beta)
    if plan.run is None:
        recurrent[where] = state
    return out


def _chunks(layer: KDA, projected: Projected, plan: ChunkPlan, recurrent: Tensor, conv: Tensor) -> Tensor:
    """Several tokens of S sequences -> o [T, H, V]."""
    size = plan.real.shape[1]
    buffer = torch.cat((projected.qkv, conv[plan.slots].flatten(0, 1)))[plan.buffer]
    conv[plan.slots] = buffer[plan.tails].view(len(plan.slots), -1, projected.qkv.shape[-1])
    mixed = short_conv(buffer, layer.taps()).to(projected.qkv.dtype)
    q, k, v = (_chunked(part, plan.mixed, size) for part in layer.heads_of(mixed))
    real = plan.real.unsqueeze(1)
    decay = _chunked(layer.decay(projected.u), plan.sources, size) * real.unsqueeze(-1)
    beta = (
        torch.sigmoid(projected.beta.float())[plan.sources].view(-1, size, layer.heads).transpose(1, 2) * real
    )
    out, state = chunk_delta_rule(
        recurrent[plan.slots],
        q,
        k,
        v,
        decay,
        beta,
        steps=plan.steps,
        bounded=layer.lower_bound is not None,
    )
    recurrent[plan.slots] = state
    return out.transpose(1, 2).flatten(0, 1)[plan.back]


def _chunked(rows: Tensor, order: Tensor, size: int) -> Tensor:
    """[N, H, D] -> [M, H, C, D]."""
    return rows[order].view(-1, size, *rows.shape[1:]).transpose(1, 2)
