"""MXFP4: known bytes, every code, nearest values, and a round trip that changes nothing."""

from __future__ import annotations

import pytest
import torch

from kimi_sdk.engine.mxfp4 import dequantize, fake_quantize, quantize

MAGNITUDES = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def test_known_bytes() -> None:
    """Low nibble first; 127 is a scale of 1; the sign is bit 3."""
    packed = torch.zeros(1, 16, dtype=torch.uint8)
    packed[0, :3] = torch.tensor([0x21, 0x9F, 0x70], dtype=torch.uint8)
    values = dequantize(packed, torch.tensor([[128]], dtype=torch.uint8))
    assert values[0, :6].tolist() == [1.0, 2.0, -12.0, -1.0, 0.0, 12.0]
    assert not values[0, 6:].any()


@pytest.mark.parametrize("scale", [0, 1, 100, 127, 200, 254])
def test_every_code_under_any_scale_is_exact(scale: int) -> None:
    codes = torch.arange(16, dtype=torch.uint8).repeat(2)
    packed = (codes[0::2] | (codes[1::2] << 4)).unsqueeze(0)
    found = dequantize(packed, torch.tensor([[scale]], dtype=torch.uint8)).double()
    signed = [*MAGNITUDES, *(-m for m in MAGNITUDES)]
    wanted = torch.tensor(signed * 2, dtype=torch.float64) * 2.0 ** (scale - 127)
    assert torch.equal(found[0], wanted.float().double())
    assert bool(torch.signbit(found[0, 8]))


def test_a_nan_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="255"):
        dequantize(torch.zeros(1, 16, dtype=torch.uint8), torch.tensor([[255]], dtype=torch.uint8))


def test_what_is_representable_stays_as_it_is() -> None:
    generator = torch.Generator().manual_seed(0)
    packed = torch.randint(0, 256, (40, 64), dtype=torch.uint8, generator=generator)
    scale = torch.randint(60, 200, (40, 4), dtype=torch.uint8, generator=generator)
    values = dequantize(packed, scale)
    assert torch.equal(dequantize(*quantize(values)), values)


def test_values_go_to_the_nearest_and_scales_to_the_better() -> None:
    weight = torch.randn(200, 64, generator=torch.Generator().manual_seed(1))
    weight[0] = 0
    kept = fake_quantize(weight)
    groups, found = weight.view(-1, 32), kept.view(-1, 32)
    grid = torch.tensor(sorted({s * m for m in MAGNITUDES for s in (1, -1)}))
    best = torch.full((len(groups),), float("inf"))
    for exponent in range(-6, 4):
        step = 2.0**exponent
        near = grid[(groups.unsqueeze(-1) / step - grid).abs().argmin(-1)] * step
        best = torch.minimum(best, (near - groups).square().sum(-1))
    error = (found - groups).square().sum(-1)
    assert (
        float((error / best.clamp(min=1e-9)).max()) < 1.2
    )  # the search looks at two scales, not at all of them
    assert float(error.sum() / best.sum()) < 1.01
    assert not found[0].any()


def test_ties_go_to_the_even_code() -> None:
    weight = torch.zeros(1, 32)
    weight[0, :8] = torch.tensor([6, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5])
    assert fake_quantize(weight)[0, :8].tolist() == [6, 0, 1, 1, 2, 2, 4, 4]
    assert fake_quantize(-weight)[0, :8].tolist() == [-6, 0, -1, -1, -2, -2, -4, -4]


def test_tiny_and_huge_groups() -> None:
    for size in (1e-45, 1e-38, 1e38, 3e38):
        weight = torch.full((1, 32), size)
        packed, scale = quantize(weight)
        assert int(scale) < 255
        assert torch.isfinite(dequantize(packed, scale)).all()


def test_gradients_pass_straight_through() -> None:
    weight = torch.randn(4, 32, requires_grad=True)
    (fake_quantize(weight) * torch.arange(32)).sum().backward()
    assert weight.grad is not None
    assert torch.equal(weight.grad, torch.arange(32.0).expand(4, 32))
