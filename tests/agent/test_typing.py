"""The public surface means to a type checker what it means to people."""

from __future__ import annotations

from pathlib import Path

from mypy import api

ROOT = Path(__file__).parents[2]


def test_mypy_infers_the_public_types() -> None:
    shown, errors, code = api.run(
        [
            "--strict",
            *("--config-file", str(ROOT / "pyproject.toml")),
            str(ROOT / "tests" / "typed" / "public_surface.py"),
        ]
    )
    assert code == 0, shown + errors
