"""K3's way from an image to patches: resize, fill transparency, pad, normalise, cut.

The rules are those of the released ``preprocessor_config.json``. Sizes and token counts need no torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import PIL.Image

from kimi_sdk.errors import ConfigError, ImageError

if TYPE_CHECKING:
    import torch

    from kimi_sdk.vision.image import Image

Pattern = Literal["chessboard", "white", "black", "gray"]
PLAIN: Mapping[str, int] = {"white": 255, "black": 0, "gray": 128}


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What shows through transparent pixels."""

    pattern: Pattern = "chessboard"
    square: int = 8
    white_first: bool = True  # the square at the top left
    white: int = 255
    gray: int = 180

    def __post_init__(self) -> None:
        if self.pattern != "chessboard" and self.pattern not in PLAIN:
            raise ConfigError(f"transparent_bg_config.pattern {self.pattern!r} is not known.")
        for name, least, most in (("square", 1, 2**31), ("white", 0, 255), ("gray", 0, 255)):
            value = getattr(self, name)
            if not isinstance(value, int) or not least <= value <= most:
                raise ConfigError(f"Background.{name} must lie in {least}..{most}, not {value!r}.")

    def pixels(self, width: int, height: int) -> np.ndarray:
        """``[height, width, 3]`` uint8."""
        if self.pattern != "chessboard":
            return np.full((height, width, 3), PLAIN[self.pattern], np.uint8)
        rows, columns = np.arange(height) // self.square, np.arange(width) // self.square
        odd = (rows[:, None] + columns[None, :]) % 2 == (1 if self.white_first else 0)
        board = np.where(odd, self.gray, self.white).astype(np.uint8)
        return np.repeat(board[..., None], 3, -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaLimits:
    """How images are made into patches; the defaults are K3's.

    Attributes:
        patches: an image is shrunk to about this many; padding can add a few.
        side: most patches on one side.
        patch: pixels on a patch's side.
        merge: patches on the side of one token.
        mean: subtracted from each channel in 0..1.
        std: each channel is divided by it.
        background: shows through transparent pixels; ``None`` drops transparency.
        fill_first: whether transparency is filled before resizing instead of after.
    """

    patches: int = 65536
    side: int = 512
    patch: int = 14
    merge: int = 2
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    background: Background | None = Background()
    fill_first: bool = False

    def __post_init__(self) -> None:
        for name in ("patches", "side", "patch", "merge"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigError(f"MediaLimits.{name} must be a whole number from 1, not {value!r}.")
        if not all(map(math.isfinite, self.mean)):
            raise ConfigError(f"MediaLimits.mean must be finite, not {self.mean!r}.")
        if not all(0 < value < math.inf for value in self.std):
            raise ConfigError(f"MediaLimits.std must be positive, not {self.std!r}.")

    @classmethod
    def from_config(cls, data: Mapping[str, Any]) -> Self:
        """Read ``preprocessor_config.json``, or its ``media_proc_cfg``; what it leaves out is K3's."""
        data = data.get("media_proc_cfg", data)
        if data.get("fixed_output_tokens") is not None:
            raise ConfigError("media_proc_cfg.fixed_output_tokens is not supported; it must be null.")
        merge = data.get("merge_kernel_size", 2)
        fill = data.get("transparent_bg_config", {})
        base = cls()
        return cls(
            patches=data.get("in_patch_limit", base.patches),
            side=data.get("patch_limit_on_one_side", base.side),
            patch=data.get("patch_size", base.patch),
            merge=merge[0] if isinstance(merge, list) and merge else merge,
            mean=_three(data.get("image_mean", base.mean)),
            std=_three(data.get("image_std", base.std)),
            background=None if fill is None else _background(fill),
            fill_first=data.get("transparent_bg_fill_stage", "after_resize") == "before_resize",
        )

    def to_config(self) -> dict[str, Any]:
        """The ``media_proc_cfg`` that ``from_config`` reads back."""
        fill = self.background
        return {
            "in_patch_limit": self.patches,
            "patch_limit_on_one_side": self.side,
            "patch_size": self.patch,
            "merge_kernel_size": self.merge,
            "image_mean": list(self.mean),
            "image_std": list(self.std),
            "fixed_output_tokens": None,
            "transparent_bg_fill_stage": "before_resize" if self.fill_first else "after_resize",
            "transparent_bg_config": None
            if fill is None
            else {
                "pattern": fill.pattern,
                "chessboard_square_size": fill.square,
                "chessboard_square_on_top_left": fill.white_first,
                "chessboard_white_value": fill.white,
                "chessboard_gray_value": fill.gray,
            },
        }


def _three(values: Any) -> tuple[float, float, float]:
    red, green, blue = values
    return float(red), float(green), float(blue)


def _background(data: Mapping[str, Any]) -> Background:
    base = Background()
    return Background(
        pattern=data.get("pattern", base.pattern),
        square=data.get("chessboard_square_size", base.square),
        white_first=data.get("chessboard_square_on_top_left", base.white_first),
        white=data.get("chessboard_white_value", base.white),
        gray=data.get("chessboard_gray_value", base.gray),
    )


K3_LIMITS = MediaLimits()


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes in pixels: ``resized`` holds the picture, ``padded`` is a whole number of tokens."""

    resized: tuple[int, int]
    padded: tuple[int, int]


def plan(size: tuple[int, int], limits: MediaLimits = K3_LIMITS) -> Plan:
    """How an image of ``size`` (width, height) is resized and padded; nothing is ever enlarged.

    Raises:
        ImageError: the shape is so long that padding passes the limit of one side.
    """
    width, height = size
    if width < 1 or height < 1:
        raise ImageError(f"An image of {width}x{height} has no pixels.")
    area = max(1, width // limits.patch) * max(1, height // limits.patch)
    longest = limits.side * limits.patch
    scale = min(1.0, math.sqrt(limits.patches / area), longest / width, longest / height)
    resized = (
        min(max(1, int(width * scale)), longest),
        min(max(1, int(height * scale)), longest),
    )
    unit = limits.patch * limits.merge
    padded = (math.ceil(resized[0] / unit) * unit, math.ceil(resized[1] / unit) * unit)
    if max(padded) > longest:
        fits = longest // unit * unit
        raise ImageError(
            f"An image of {width}x{height} gives {max(padded) // limits.patch} patches on one side, and the "
            f"limit is {limits.side}. Resize it to at most {fits}x{fits} pixels."
        )
    return Plan(resized, padded)


def token_count(size: tuple[int, int], limits: MediaLimits = K3_LIMITS) -> int:
    """How many tokens an image of ``size`` (width, height) takes in a prompt.

    Raises:
        ImageError: see ``plan``.
    """
    width, height = plan(size, limits).padded
    unit = limits.patch * limits.merge
    return (width // unit) * (height // unit)


@dataclass(frozen=True, slots=True, eq=False)
class Patches:
    """One image, ready for the tower.

    Attributes:
        pixels: ``[patches, 3, side, side]`` float32, row by row over the grid.
        grid: frames (1 for an image), rows and columns of patches.
        size: width and height of the original.
    """

    pixels: torch.Tensor
    grid: tuple[int, int, int]
    size: tuple[int, int]


def preprocess(image: Image, limits: MediaLimits = K3_LIMITS) -> Patches:
    """Make an image into patches.

    Raises:
        ImageError: see ``plan``.
    """
    import torch

    array = patch_array(image.to_pil(), limits)
    rows, columns = array.shape[:2]
    flat = array.reshape(rows * columns, 3, limits.patch, limits.patch)
    return Patches(torch.from_numpy(np.ascontiguousarray(flat)), (1, rows, columns), image.size)


def patch_array(picture: PIL.Image.Image, limits: MediaLimits = K3_LIMITS) -> np.ndarray:
    """``[rows, columns, 3, side, side]`` float32 of an RGB or RGBA picture."""
    sizes = plan(picture.size, limits)
    if limits.fill_first:
        picture = opaque(picture, limits.background)
    if picture.size != sizes.resized:
        picture = picture.resize(sizes.resized, PIL.Image.Resampling.BICUBIC)
    pixels = np.asarray(opaque(picture, limits.background))
    width, height = sizes.padded
    canvas = np.zeros((height, width, 3), np.uint8)  # black; the background is for transparency only
    canvas[: pixels.shape[0], : pixels.shape[1]] = pixels
    side = limits.patch
    cut = canvas.reshape(height // side, side, width // side, side, 3).transpose(0, 2, 4, 1, 3)
    levels = _levels(limits)
    return np.stack([levels[channel][cut[:, :, channel]] for channel in range(3)], axis=2)


def opaque(picture: PIL.Image.Image, background: Background | None) -> PIL.Image.Image:
    """RGB: transparent pixels blended with the background, in float32 and cut to whole levels."""
    if picture.mode == "RGB":
        return picture
    if background is None or not picture.has_transparency_data:
        return picture.convert("RGB")
    rgba = np.asarray(picture.convert("RGBA"))
    behind = background.pixels(*picture.size)
    alpha = rgba[..., 3:].astype(np.float32) / np.float32(255)
    blended = alpha * rgba[..., :3] + (1 - alpha) * behind
    return PIL.Image.fromarray(blended.astype(np.uint8))


def _levels(limits: MediaLimits) -> np.ndarray:
    """The value of each of the 256 levels of each channel, ``[3, 256]`` float32."""
    level = (np.arange(256) / 255.0).astype(np.float32)
    centred = (level[None] - np.array(limits.mean)[:, None]).astype(np.float32)
    scaled: np.ndarray = (centred * (1.0 / np.array(limits.std))[:, None]).astype(np.float32)
    return scaled
