"""Kimi Delta Attention and attention residuals as flash-linear-attention writes them out in plain PyTorch."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor
from witness_models import distance

from kimi_sdk.engine.attn_res import ScaledMix, mix
from kimi_sdk.engine.delta_rule import CHUNK, chunk_delta_rule, recurrent_step
from kimi_sdk.engine.kda import log_decay
from kimi_sdk.engine.norm import l2_norm

if importlib.util.find_spec("fla") is None:
    pytest.skip("fla-core is not installed (extra: witness)", allow_module_level=True)

HEADS, DIM = 3, 32


def theirs(module: str) -> Any:
    """A module of fla, whose import warns of the missing GPU."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(module)


def drawn(length: int, kind: str, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """q (unit, unscaled), k (unit), v, log-decay, beta and a state; keys that lean the same way."""
    generator = torch.Generator().manual_seed(seed)

    def noise(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    q = l2_norm(noise(length, HEADS, DIM))
    k = l2_norm(noise(length, HEADS, DIM) + 1.5 * noise(1, HEADS, DIM))
    sizes = {"slow": -0.001, "mixed": -0.5, "fast": -5.0}
    g = sizes[kind] * torch.sigmoid(3 * noise(length, HEADS, DIM))
    beta = torch.sigmoid(2 + noise(length, HEADS))
    return q, k, noise(length, HEADS, DIM), g, beta, noise(HEADS, DIM, DIM)


@pytest.mark.parametrize("kind", ["slow", "mixed", "fast"])
def test_one_step_at_a_time(kind: str) -> None:
    q, k, v, g, beta, state = drawn(40, kind, seed=1)
    naive = theirs("fla.ops.kda.naive").naive_recurrent_kda
    wanted, last = naive(
        *(part.unsqueeze(0) for part in (q, k, v, g, beta)),
        initial_state=state.transpose(-1, -2).unsqueeze(0),
        output_final_state=True,
    )
    own, rows = state.unsqueeze(0).clone(), []
    for t in range(len(q)):
        step = [part[t].unsqueeze(0) for part in (q * DIM**-0.5, k, v, g, beta)]
        out, own = recurrent_step(own, *step)
        rows.append(out[0])
    apart = distance(torch.stack(rows), wanted[0]), distance(own[0], last[0].transpose(-1, -2))
    print(f"{kind}: relative L2 {apart[0]:.1e} (outputs), {apart[1]:.1e} (state)")
    assert max(apart) <= 2e-6


@pytest.mark.parametrize("reference", ["naive_recurrent_kda", "naive_chunk_kda"])
@pytest.mark.parametrize("kind", ["slow", "mixed", "fast"])
def test_chunk_by_chunk(kind: str, reference: str) -> None:
    chunks = 3
    q, k, v, g, beta, state = drawn(chunks * CHUNK, kind, seed=2)
    wanted, last = getattr(theirs("fla.ops.kda.naive"), reference)(
        *(part.unsqueeze(0) for part in (q, k, v, g, beta)),
        initial_state=state.transpose(-1, -2).unsqueeze(0),
        output_final_state=True,
    )

    def cut(part: Tensor) -> Tensor:
        return part.view(chunks, CHUNK, *part.shape[1:]).transpose(1, 2)

    out, own = chunk_delta_rule(
        state.unsqueeze(0),
        *(cut(part) for part in (q * DIM**-0.5, k, v, g, beta)),
        steps=[1] * chunks,
        bounded=True,
    )
    found = out.transpose(1, 2).reshape(chunks * CHUNK, HEADS, DIM)
    apart = distance(found, wanted[0]), distance(own[0], last[0].transpose(-1, -2))
    print(f"{kind}, {reference}: relative L2 {apart[0]:.1e} (outputs), {apart[1]:.1e} (state)")
    assert max(apart) <= 5e-6  # two fp32 roundings of one sum, over up to 192 dependent steps


@pytest.mark.parametrize("bound", [None, -5.0])
def test_gate(bound: float | None) -> None:
    generator = torch.Generator().manual_seed(3)
    u = 3 * torch.randn(50, HEADS, DIM, generator=generator)
    rates, bias = torch.randn(HEADS, generator=generator), torch.randn(HEADS * DIM, generator=generator)
    gate = theirs("fla.ops.kda.gate")
    if bound is None:
        wanted = gate.naive_kda_gate(u, rates, bias)
    else:
        wanted = gate.naive_kda_lowerbound_gate(u, rates, bias, lower_bound=bound)
    found = log_decay(u, rates.exp(), bias.view(HEADS, DIM), bound)
    assert distance(found, wanted) <= 1e-6


@pytest.mark.parametrize("sources", [2, 3, 9])
@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_attention_residuals(sources: int, size: float) -> None:
    generator = torch.Generator().manual_seed(sources)
    stream = [size * torch.randn(20, 208, generator=generator) for _ in range(sources)]
    norm, proj = (torch.randn(208, generator=generator) for _ in range(2))
    proj = proj * 208**-0.5
    wanted = theirs("fla.ops.attnres.naive").naive_attnres(proj, stream, norm, rms_eps=1e-5)
    *bank, prefix = stream
    for found in (mix(prefix, bank, norm * proj, 1e-5), ScaledMix(norm * proj, 1e-5)(prefix, bank)):
        assert distance(found, wanted) <= 2e-6
