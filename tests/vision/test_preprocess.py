"""K3's preprocessing, to the pixel."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import PIL.Image
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_sdk.errors import ConfigError, ImageError
from kimi_sdk.vision.image import Image
from kimi_sdk.vision.preprocess import (
    K3_LIMITS,
    Background,
    MediaLimits,
    opaque,
    patch_array,
    plan,
    preprocess,
    token_count,
)

TINY = MediaLimits(patches=64, side=8)


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        ((224, 224), 64),
        ((1024, 768), 1036),
        ((1920, 1080), 2691),
        ((4000, 3000), 15444),
        ((8000, 6000), 16428),
        ((1, 1), 1),
        ((28, 29), 2),
        ((1, 30_000), 256),
        ((100_000, 20), 256),
    ],
)
def test_token_counts(size: tuple[int, int], tokens: int) -> None:
    assert token_count(size) == tokens


def test_tiny_limits() -> None:
    assert token_count((112, 112), TINY) == 16
    assert plan((224, 112), TINY).resized == (112, 56)
    assert plan((1000, 1000), TINY).padded == (112, 112)


def test_shapes_that_padding_pushes_over_the_limit_are_refused() -> None:
    odd = MediaLimits(side=7)
    assert token_count((84, 84), odd) == 9
    with pytest.raises(ImageError, match=r"500x20 gives 8 patches.*limit is 7.*at most 84x84"):
        token_count((500, 20), odd)
    with pytest.raises(ImageError, match="no pixels"):
        token_count((0, 5))


@given(st.integers(1, 20_000), st.integers(1, 20_000), st.sampled_from([K3_LIMITS, TINY]))
@settings(max_examples=150, deadline=None)
def test_plans_never_enlarge_and_keep_the_limits(width: int, height: int, limits: MediaLimits) -> None:
    sizes = plan((width, height), limits)
    assert sizes.resized[0] <= width
    assert sizes.resized[1] <= height
    assert all(0 <= outer - inner < 28 for inner, outer in zip(sizes.resized, sizes.padded, strict=True))
    assert max(sizes.padded) <= limits.side * 14
    rows, columns = sizes.resized[1] // 14, sizes.resized[0] // 14
    assert rows * columns <= limits.patches
    assert token_count((width, height), limits) == math.prod(sizes.padded) // 784


def picture(width: int, height: int, mode: str = "RGB", seed: int = 0) -> PIL.Image.Image:
    channels = {"RGB": 3, "RGBA": 4}[mode]
    return PIL.Image.fromarray(
        np.random.default_rng(seed).integers(0, 256, (height, width, channels), np.uint8)
    )


def joined(array: np.ndarray) -> np.ndarray:
    """Patches put together again, ``[height, width, 3]``."""
    rows, columns, _, side, _ = array.shape
    return array.transpose(0, 3, 1, 4, 2).reshape(rows * side, columns * side, 3)


def test_pixels_are_padded_with_black_and_scaled() -> None:
    source = picture(30, 20)
    whole = joined(patch_array(source))
    assert whole.shape == (28, 56, 3)
    expected = (np.asarray(source).astype(np.float64) / 255 - 0.5) / 0.5
    np.testing.assert_allclose(whole[:20, :30], expected, atol=1.2e-7)
    assert (whole[20:] == -1).all()
    assert (whole[:, 30:] == -1).all()


def test_patches_go_row_by_row_channel_first() -> None:
    image = Image.from_pil(picture(56, 28))
    patches = preprocess(image)
    assert patches.pixels.shape == (8, 3, 14, 14)
    assert patches.pixels.dtype == torch.float32
    assert (patches.grid, patches.size) == ((1, 2, 4), (56, 28))
    source = np.asarray(image.to_pil())
    for number in range(8):
        row, column = divmod(number, 4)
        block = source[row * 14 : row * 14 + 14, column * 14 : column * 14 + 14]
        expected = torch.from_numpy(block.transpose(2, 0, 1).copy()).float() / 255 * 2 - 1
        torch.testing.assert_close(patches.pixels[number], expected, rtol=0, atol=2e-7)


def test_large_images_are_shrunk_by_bicubic() -> None:
    source = picture(224, 112)
    shrunk = source.resize((112, 56), PIL.Image.Resampling.BICUBIC)
    np.testing.assert_array_equal(patch_array(source, TINY), patch_array(shrunk, TINY))
    assert preprocess(Image.from_pil(source), TINY).size == (224, 112)


def test_transparency_shows_a_chessboard_made_after_resizing() -> None:
    clear = PIL.Image.new("RGBA", (224, 112), (255, 0, 0, 0))
    levels = np.rint((joined(patch_array(clear, TINY)) + 1) * 127.5).astype(int)
    assert levels[0, 0].tolist() == [255, 255, 255]
    assert levels[0, 8].tolist() == [180, 180, 180]
    assert levels[8, 0].tolist() == [180, 180, 180]
    assert levels[8, 8].tolist() == [255, 255, 255]
    assert (levels[:8, :8] == 255).all()


def test_blending_is_cut_to_whole_levels() -> None:
    source = picture(9, 9, "RGBA", seed=3)
    found = np.asarray(opaque(source, Background()))
    values = np.asarray(source)
    for row, column in ((0, 0), (0, 8), (8, 0), (8, 8), (4, 5)):
        behind = 255 if (row // 8 + column // 8) % 2 == 0 else 180
        alpha = np.float32(values[row, column, 3]) / np.float32(255)
        for channel in range(3):
            exact = alpha * np.float32(values[row, column, channel]) + (np.float32(1) - alpha) * np.float32(
                behind
            )
            assert found[row, column, channel] == int(exact)


def test_other_backgrounds() -> None:
    clear = PIL.Image.new("RGBA", (20, 20), (9, 9, 9, 0))
    for pattern, level in (("white", 255), ("black", 0), ("gray", 128)):
        assert opaque(clear, Background(pattern=pattern)).getpixel((3, 3)) == (level,) * 3  # type: ignore[arg-type]
    assert opaque(clear, Background(white_first=False)).getpixel((0, 0)) == (180,) * 3
    assert opaque(clear, None).getpixel((3, 3)) == (9, 9, 9)
    first = MediaLimits(fill_first=True, patches=64, side=8)
    assert joined(patch_array(clear, first))[0, 0, 0] == 1.0


def test_config_round_trip() -> None:
    assert MediaLimits.from_config({}) == K3_LIMITS
    released = {
        "media_proc_cfg": {
            "in_patch_limit": 65536,
            "patch_limit_on_one_side": 512,
            "patch_size": 14,
            "merge_kernel_size": 2,
            "image_mean": [0.5, 0.5, 0.5],
            "image_std": [0.5, 0.5, 0.5],
            "fixed_output_tokens": None,
            "in_patch_limit_each_frame": 16384,
            "transparent_bg_fill_stage": "after_resize",
            "transparent_bg_config": {
                "pattern": "chessboard",
                "chessboard_square_size": 8,
                "chessboard_square_on_top_left": True,
                "chessboard_white_value": 255,
                "chessboard_gray_value": 180,
            },
        }
    }
    assert MediaLimits.from_config(released) == K3_LIMITS
    for limits in (TINY, MediaLimits(background=None, fill_first=True, mean=(0.1, 0.2, 0.3))):
        assert MediaLimits.from_config(limits.to_config()) == limits
    with pytest.raises(ConfigError, match="fixed_output_tokens"):
        MediaLimits.from_config({"fixed_output_tokens": 64})
    with pytest.raises(ConfigError, match="pattern"):
        MediaLimits.from_config({"transparent_bg_config": {"pattern": "stripes"}})
    with pytest.raises(ConfigError, match="patches"):
        MediaLimits(patches=0)


def test_counting_tokens_needs_no_torch() -> None:
    code = (
        "import sys; import kimi_sdk.vision.image; from kimi_sdk.vision.preprocess import token_count;"
        "print(token_count((224, 224)), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["64", "False"]
