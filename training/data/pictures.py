"""Drawn pictures: coloured shapes in a scene, and numbers in several kinds of lettering."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import PIL.Image
from PIL import ImageDraw, ImageFont

from kimi_sdk.vision.preprocess import MediaLimits, plan
from training.data.sample import Picture

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (218, 25, 32),
    "green": (28, 152, 55),
    "blue": (35, 80, 228),
    "yellow": (250, 224, 35),
    "orange": (252, 132, 14),
    "purple": (142, 45, 192),
    "pink": (255, 140, 198),
    "brown": (118, 66, 24),
    "black": (12, 12, 12),
    "white": (250, 250, 250),
    "gray": (132, 132, 132),
}
"""Eleven colours that nobody mistakes for one another, far further apart than `shade` moves them."""
SHAPES = ("circle", "square", "triangle", "rectangle", "star", "cross", "diamond", "heart", "ring")
CLEAR = 224.0
"""Least `distance` between a thing and its ground."""
LIMITS = MediaLimits(patches=64, side=8)
"""Those of the checkpoint: a picture is shrunk into 112 x 112 pixels, 16 tokens at most."""


@dataclass(frozen=True, slots=True)
class Thing:
    """One object of a scene. ``column`` and ``row`` are 0, 1 or 2 (left to right, top to bottom)."""

    shape: str
    colour: str
    column: int
    row: int
    big: bool = False


@cache
def distance(one: str, two: str) -> float:
    """How different two colours look ("redmean": a weighted distance in RGB)."""
    (r1, g1, b1), (r2, g2, b2) = COLOURS[one], COLOURS[two]
    red = (r1 + r2) / 2 / 256
    return math.sqrt((2 + red) * (r1 - r2) ** 2 + 4 * (g1 - g2) ** 2 + (3 - red) * (b1 - b2) ** 2)


def canvas_size(rng: random.Random) -> tuple[int, int]:
    """Width and height: mostly what the model sees unresized, else larger pictures; none flatter than 4:3,
    in which things would cover less than a patch."""
    roll = rng.random()
    if roll < 0.75:
        return 112, 112
    if roll < 0.87:
        return rng.choice(((112, 84), (84, 112), (100, 100), (128, 128), (96, 112)))
    if roll < 0.95:
        side = rng.choice((150, 160, 200, 224, 224, 256))
        return side, side
    return rng.choice(((160, 120), (240, 180), (200, 150), (120, 160), (256, 192)))


def shade(rng: random.Random, colour: str) -> tuple[int, int, int]:
    """A colour as it may really look."""
    reach = 6 if colour in ("black", "white", "gray") else 12
    wide = 2 * reach + 1
    red, green, blue = COLOURS[colour]
    return (
        min(255, max(0, red - reach + int(rng.random() * wide))),
        min(255, max(0, green - reach + int(rng.random() * wide))),
        min(255, max(0, blue - reach + int(rng.random() * wide))),
    )


def background(rng: random.Random, width: int, height: int, colour: str) -> PIL.Image.Image:
    """A plain, noisy or shaded ground."""
    base = shade(rng, colour)
    roll = rng.random()
    if roll < 0.84:
        return PIL.Image.new("RGB", (width, height), base)
    if roll < 0.92:
        start = 3 * int(rng.random() * 4096)
        tile = grain()[start : start + 3 * width * height].reshape(height, 3 * width)
        low = np.array([min(max(part - 12, 0), 231) for part in base], np.uint8)
        return PIL.Image.fromarray((tile + np.tile(low, width)).reshape(height, width, 3))
    slope = np.linspace(-1, 1, width, dtype=np.float32)[:, None] * rng.uniform(4, 10)
    line = np.clip(slope + np.array(base, np.float32), 0, 255).astype(np.uint8)
    return PIL.Image.fromarray(line[None]).resize((width, height), PIL.Image.Resampling.NEAREST)


@cache
def grain() -> np.ndarray:
    """Gray noise around 12 and at most 24, three equal values a pixel, from which grounds cut their stretch."""
    noise = np.random.default_rng(7).normal(12, 5, 4096 + 320 * 320)
    return np.repeat(np.clip(noise, 0, 24).astype(np.uint8), 3)


def outline(shape: str, x: float, y: float, r: float, turn: float) -> list[tuple[float, float]]:
    """Corners of a polygonal shape around ``(x, y)``, at most 1.12 ``r`` away across and down.

    A rectangle lies for a ``turn`` of zero or more and stands else.
    """

    def ring(corners: int, start: float, radius: Sequence[float]) -> list[tuple[float, float]]:
        step = 2 * math.pi / corners
        return [
            (
                x + radius[i % len(radius)] * math.cos(start + i * step + turn),
                y + radius[i % len(radius)] * math.sin(start + i * step + turn),
            )
            for i in range(corners)
        ]

    if shape == "square":
        return ring(4, math.pi / 4, (r * 1.28,))
    if shape == "diamond":
        return [(x, y - r * 1.1), (x + r * 0.72, y), (x, y + r * 1.1), (x - r * 0.72, y)]
    if shape == "triangle":
        return ring(3, -math.pi / 2, (r * 1.1,))
    if shape == "star":
        return ring(10, -math.pi / 2, (r * 1.12, r * 0.46))
    if shape == "rectangle":
        wide, tall = (r * 1.1, r * 0.52) if turn >= 0 else (r * 0.52, r * 1.1)
        return [(x - wide, y - tall), (x + wide, y - tall), (x + wide, y + tall), (x - wide, y + tall)]
    if shape == "cross":
        a, b = r * 1.1, r * 0.38
        return [
            (x - b, y - a), (x + b, y - a), (x + b, y - b), (x + a, y - b), (x + a, y + b), (x + b, y + b),
            (x + b, y + a), (x - b, y + a), (x - b, y + b), (x - a, y + b), (x - a, y - b), (x - b, y - b),
        ]  # fmt: skip
    points = []
    for i in range(32):  # heart
        t = i * 2 * math.pi / 32
        points.append(
            (
                x + r * 1.1 * math.sin(t) ** 3,
                y
                - r
                * (
                    0.85 * math.cos(t)
                    - 0.33 * math.cos(2 * t)
                    - 0.13 * math.cos(3 * t)
                    - 0.07 * math.cos(4 * t)
                ),
            )
        )
    return points


def paint(
    draw: ImageDraw.ImageDraw,
    thing: Thing,
    x: float,
    y: float,
    r: float,
    colour: tuple[int, int, int],
    rng: random.Random,
) -> None:
    """Draws one shape."""
    if thing.shape == "circle":
        draw.ellipse((x - r, y - r, x + r, y + r), fill=colour)
    elif thing.shape == "ring":
        draw.ellipse((x - r, y - r, x + r, y + r), outline=colour, width=max(3, round(r * 0.36)))
    elif thing.shape in ("diamond", "cross", "heart"):
        draw.polygon(outline(thing.shape, x, y, r, 0.0), fill=colour)
    else:
        draw.polygon(outline(thing.shape, x, y, r, rng.uniform(-0.09, 0.09)), fill=colour)


def scene(rng: random.Random, things: Sequence[Thing], ground: str) -> Picture:
    """A picture of ``things``, each within its own cell of a 3 x 3 grid; a lone one may be larger."""
    width, height = canvas_size(rng)
    scale = 2 if max(width, height) <= 140 else 1
    across, down = width * scale, height * scale
    image = background(rng, across, down, ground)
    draw = ImageDraw.Draw(image)
    side = min(across, down) / 3
    for thing in things:
        if len(things) > 1:
            r = side * (rng.uniform(0.385, 0.41) if thing.big else rng.uniform(0.29, 0.31))
        elif thing.column == thing.row == 1:
            r = side * rng.uniform(0.45, 1.2)
        else:
            r = side * rng.uniform(0.45, 0.7)
        loose = max(0.0, side / 2 - 1.12 * r) * 0.85
        x = (thing.column + 0.5) * across / 3 + rng.uniform(-loose, loose)
        y = (thing.row + 0.5) * down / 3 + rng.uniform(-loose, loose)
        x = min(max(x, 1.15 * r), across - 1.15 * r)
        y = min(max(y, 1.15 * r), down - 1.15 * r)
        paint(draw, thing, x, y, r, shade(rng, thing.colour), rng)
    if scale > 1:
        image = image.reduce(scale)
    return Picture(np.asarray(image))


SEGMENTS = {
    "0": "abcdef", "1": "bc", "2": "abged", "3": "abgcd", "4": "fgbc", "5": "afgcd", "6": "afgedc", "7": "abc",
    "8": "abcdefg", "9": "abcdfg",
}  # fmt: skip
PLACES = {
    "a": ((0, 0), (1, 0)), "b": ((1, 0), (1, 1)), "c": ((1, 1), (1, 2)), "d": ((0, 2), (1, 2)), "e": ((0, 1), (0, 2)),
    "f": ((0, 0), (0, 1)), "g": ((0, 1), (1, 1)),
}  # fmt: skip
# Digits as a pen writes them, in a box of 10 x 16.
STROKES: dict[str, tuple[tuple[tuple[float, float], ...], ...]] = {
    "0": (((5, 0), (1.5, 3), (1, 8), (1.5, 13), (5, 16), (8.5, 13), (9, 8), (8.5, 3), (5, 0)),),
    "1": (((2, 4), (6, 0), (6, 16)),),
    "2": (((1, 4), (2, 1), (5, 0), (8, 1), (9, 4), (8, 7), (1, 16), (9, 16)),),
    "3": (((1, 2), (5, 0), (8.5, 2), (8.5, 5), (5, 7.5), (9, 10), (9, 13), (5, 16), (1, 14)),),
    "4": (((7, 16), (7, 0), (0.5, 11), (9.5, 11)),),
    "5": (((9, 0), (2, 0), (1.5, 7), (5, 6), (9, 9), (9, 13), (5, 16), (1, 14)),),
    "6": (((8, 0), (3, 5), (1, 11), (3, 15), (5, 16), (8, 15), (9, 11), (7, 8), (4, 8), (1.5, 11)),),
    "7": (((1, 0), (9, 0), (4, 16)),),
    "8": (((5, 0), (1.5, 2), (2, 5), (8, 10), (9, 13), (5, 16), (1, 13), (2, 10), (8, 5), (8.5, 2), (5, 0)),),
    "9": (((9, 5), (6, 8), (2, 8), (1, 4), (4, 0), (8, 1), (9, 5), (8, 12), (5, 16)),),
}


@cache
def fonts() -> list[str]:
    """Font files found on this machine; digits are also drawn without any."""
    places = [Path("/usr/share/fonts")]
    found = [str(path) for place in places if place.is_dir() for path in sorted(place.rglob("DejaVu*.ttf"))]
    return [name for name in found if "Math" not in name and "Mono-Oblique" not in name]


@cache
def font(name: str, size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.truetype(name, size) if name else ImageFont.load_default(size)


def number(rng: random.Random, digits: str, ink: str, ground: str) -> Picture:
    """A picture of a number."""
    width, height = (
        (112, 112)
        if rng.random() < 0.8
        else rng.choice(
            ((112, 84), (84, 84), (160, 120), (224, 224), (240, 180), (160, 160), (200, 200), (128, 128))
        )
    )
    scale = 2 if width <= 140 else 1
    image = background(rng, width * scale, height * scale, ground)
    draw = ImageDraw.Draw(image)
    colour = shade(rng, ink)
    room = width * scale * rng.uniform(0.72, 0.94)
    tall = min(height * scale * rng.uniform(0.5, 0.85), room / len(digits) * 1.7)
    kind = rng.random()
    if kind < 0.5:
        named = fonts()
        file = rng.choice(named) if named and rng.random() < 0.75 else ""
        size = max(12, min(int(tall * 1.25), int(room / (0.68 * len(digits)))) // 4 * 4)
        letter = font(file, size)
        left, top, right, bottom = draw.textbbox((0, 0), digits, font=letter)
        x = (width * scale - (right - left)) / 2 - left + rng.uniform(-0.02, 0.02) * width
        y = (height * scale - (bottom - top)) / 2 - top + rng.uniform(-0.1, 0.1) * height
        draw.text((x, y), digits, fill=colour, font=letter)
    else:
        wide = tall * rng.uniform(0.42, 0.55)
        step = min(wide * 1.4, room / len(digits))
        wide = min(wide, step * 0.78)
        x = (width * scale - step * (len(digits) - 1) - wide) / 2
        y = (height * scale - tall) / 2 + rng.uniform(-0.08, 0.08) * height
        pen = max(2, round(tall * rng.uniform(0.09, 0.14)))
        slant = rng.uniform(-0.15, 0.1)
        for index, digit in enumerate(digits):
            write(draw, digit, x + index * step, y, wide, tall, pen, slant, colour, kind < 0.75)
    if scale > 1:
        image = image.reduce(scale)
    return Picture(np.asarray(image))


def write(
    draw: ImageDraw.ImageDraw,
    digit: str,
    x: float,
    y: float,
    wide: float,
    tall: float,
    pen: int,
    slant: float,
    colour: tuple[int, int, int],
    segments: bool,
) -> None:
    """One digit of seven segments, or of pen strokes."""
    if segments:
        lines = [[(a * wide, b * tall / 2) for a, b in PLACES[name]] for name in SEGMENTS[digit]]
    else:
        lines = [[(a / 10 * wide, b / 16 * tall) for a, b in stroke] for stroke in STROKES[digit]]
    for line in lines:
        points = [(x + a - slant * (b - tall / 2), y + b) for a, b in line]
        draw.line(points, fill=colour, width=pen, joint="curve")


def patchify(picture: Picture) -> tuple[np.ndarray, tuple[int, int]]:
    """``uint8 [n, 588]`` patches and their grid: ``vision.preprocess`` before its normalisation."""
    height, width = picture.pixels.shape[:2]
    sizes = plan((width, height), LIMITS)
    pixels = picture.pixels
    if sizes.resized != (width, height):
        image = PIL.Image.fromarray(pixels).resize(sizes.resized, PIL.Image.Resampling.BICUBIC)
        pixels = np.asarray(image)
    if sizes.padded != sizes.resized:
        canvas = np.zeros((sizes.padded[1], sizes.padded[0], 3), np.uint8)
        canvas[: pixels.shape[0], : pixels.shape[1]] = pixels
        pixels = canvas
    rows, columns = sizes.padded[1] // 14, sizes.padded[0] // 14
    cut = pixels.reshape(rows, 14, columns, 14, 3).transpose(0, 2, 4, 1, 3)
    return np.ascontiguousarray(cut).reshape(rows * columns, 588), (rows, columns)
