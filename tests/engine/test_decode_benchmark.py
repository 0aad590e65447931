"""The decode benchmark prints every number it promises."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "decode.py"


def test_it_prints_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    main = runpy.run_path(str(PROGRAM))["main"]
    small = ["--model", "tiny", "--tokens", "4", "--prompt", "70", "--repeats", "1"]
    assert main([*small, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["model"], result["weights"], result["threads"]) == ("tiny", "random", 1)
    assert all(result["decode"][batch] > 0 for batch in ("1", "8"))
    assert result["prefill"] > 0
    assert all(milliseconds > 0 for milliseconds in result["first_token_ms"].values())
    assert all(0 < share < 1 for share in result["mask_share"].values())
    assert result["masked"].keys() == result["mask_share"].keys() == result["mask_us"].keys()
