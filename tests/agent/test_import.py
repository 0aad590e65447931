"""The package imports quickly and lightly, and every public name is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kimi_sdk

HEAVY = (
    "torch",
    "triton",
    "outlines",
    "llguidance",
    "pydantic",
    "jsonschema",
    "numpy",
    "PIL",
    "anyio",
    "tiktoken",
)


def test_importing_the_package_is_light() -> None:
    code = (
        "import sys, time; began = time.perf_counter(); import kimi_sdk; took = time.perf_counter() - began;"
        f"print(took, *[name for name in {HEAVY!r} if name in sys.modules])"
    )
    answers = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in "123"
    ]
    seconds, *heavy = min((answer.stdout.split() for answer in answers), key=lambda words: float(words[0]))
    assert heavy == []
    assert float(seconds) < 0.3


def test_the_agent_needs_no_torch() -> None:
    code = (
        "import sys; from kimi_sdk import Agent, Session, tool; from kimi_sdk.testing import ScriptedModel;"
        "print(*[name for name in ('torch', 'outlines', 'llguidance', 'triton') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == []


@pytest.mark.parametrize("name", kimi_sdk.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(kimi_sdk, name) is not None
    assert name in dir(kimi_sdk)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        kimi_sdk.nonsense  # type: ignore[attr-defined]  # noqa: B018
