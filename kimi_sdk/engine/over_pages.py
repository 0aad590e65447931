"""An MLA layer over pages: one new token attends absorbed, several plain over all rows of their sequence.

Knows how a batch's plan and the page pool meet; leaves the layer's own maths to ``mla``.
"""

from __future__ import annotations

from torch import Tensor

from kimi_sdk.engine.batch import Batch, SinglePlan
from kimi_sdk.engine.mla import MLA


def attend_pages(layer: MLA, hidden: Tensor, batch: Batch, pool: Tensor) -> Tensor:
    """One layer's attention for the whole batch; writes the new tokens' rows first.

    Args:
        layer: the weights.
        hidden: [N, d], normed.
        batch: who is who.
        pool: [pages, 64, kv_lora + rope].

    Returns:
        [N, d].
    """
    q, rows, z = layer.project(hidden)
    pool.view(-1, pool.shape[-1]).index_copy_(0, batch.cache_rows, rows.to(pool.dtype))
    singles = batch.singles
    if batch.decode:
        assert singles is not None, "a batch holds sequences"
        return layer.finish(_decode(layer, q, singles, pool), z)
    o = q.new_empty(*q.shape[:-1], layer.v_dim)
    if singles is not None:
        o[singles.rows] = _decode(layer, q[singles.rows], singles, pool)
    for stretch in batch.stretches:
        own = slice(stretch.start, stretch.start + stretch.length)
        cached = pool[stretch.pages].flatten(0, 1)[: stretch.total].to(q.dtype)
        if layer.prefers_absorbed(stretch.length, stretch.total):
            read = layer.absorbed(q[own].unsqueeze(0), cached.unsqueeze(0), stretch.mask.unsqueeze(0))
            o[own] = read.squeeze(0)
        else:
            o[own] = layer.plain(q[own], cached, stretch.mask)
    return layer.finish(o, z)


def _decode(layer: MLA, q: Tensor, plan: SinglePlan, pool: Tensor) -> Tensor:
    """[S, H, nope + rope] -> [S, H, v]."""
    if plan.page_run is None:
        cached = pool[plan.table].flatten(1, 2)
    else:
        cached = pool[plan.page_run].flatten(0, 1)[: plan.total].unsqueeze(0)
    return layer.absorbed(q.unsqueeze(1), cached.to(q.dtype), plan.mask).squeeze(1)
