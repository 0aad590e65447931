"""The drift benchmark prints every number it promises, and drift is what rounding explains."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "drift.py"


def test_it_prints_one_json_list(capsys: pytest.CaptureFixture[str]) -> None:
    main = runpy.run_path(str(PROGRAM))["main"]
    assert main(["--model", "tiny", "--tokens", "60", "--json"]) == 0
    (drift,) = json.loads(capsys.readouterr().out)
    assert (drift["model"], drift["weights"], drift["tokens"]) == ("tiny", "random", 60)
    assert len(drift["stream"]) == len(drift["stream_same_experts"]) == 4
    assert 0 < drift["stream_same_experts"][0] < 0.02
    assert 0 < drift["stream_same_experts"][-1] < 0.1
    assert 0.5 < drift["experts"] <= 1
    assert drift["argmax"] <= 1
    assert 0 <= drift["kl"] <= drift["kl_max"]
    assert len(drift["nll"]) == 2


def test_it_prints_lines_for_a_reader(capsys: pytest.CaptureFixture[str]) -> None:
    main = runpy.run_path(str(PROGRAM))["main"]
    assert main(["--model", "tiny", "--tokens", "20"]) == 0
    assert "KL divergence" in capsys.readouterr().out
