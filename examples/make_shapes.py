"""Draws shapes.png, the picture that the examples ask about: a red circle beside a blue square."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

picture = Image.new("RGB", (112, 112), "white")
draw = ImageDraw.Draw(picture)
draw.ellipse((12, 38, 50, 76), fill=(220, 30, 35))
draw.rectangle((64, 40, 100, 76), fill=(35, 75, 220))
picture.save(Path(__file__).with_name("shapes.png"))
