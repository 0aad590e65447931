"""The examples run as they stand on the bundled model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kimi_sdk.source import BUNDLED

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.skipif(not any((BUNDLED / "k3-mini").glob("*.safetensors")), reason="the weights are not there")
@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("ex[1-5]_*.py")))
def test_example(name: str) -> None:
    done = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_example_tests_pass() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLES / "ex6_test.py"],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout
