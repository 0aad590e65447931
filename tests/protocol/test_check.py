from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from kimi_sdk.protocol import Tokenizer, render
from kimi_sdk.protocol.check import main

ANSWER = "<|open|>response<|sep|>x<|close|>response<|sep|>"
TURN = f"r<|close|>think<|sep|>{ANSWER}<|close|>message<|sep|><|end_of_msg|>"
K2_TURN = "x<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|><|im_end|>"


@pytest.fixture
def model(folder: Path) -> Path:
    return folder / "tiktoken.model"


@pytest.fixture
def fixtures(model: Path) -> dict[str, Any]:
    tokenizer = Tokenizer.load(model)
    messages = [{"role": "user", "content": [{"type": "image_url"}]}]
    prompt = render(messages, images=[(28, 56)], thinking=False, add_generation_prompt=False)
    image = "<|media_begin|>image 28x56<|media_content|><|media_pad|><|media_end|>"
    return {
        "note": "written by a test",
        "tiktoken_model_sha256": hashlib.sha256(model.read_bytes()).hexdigest(),
        "tokenize": [
            {"text": "the", "ids_text_mode": [ord("t"), 257], "ids_special_mode": tokenizer.encode("the")},
            {"text": "<|open|>", "ids_special_mode": [tokenizer.open_id]},
        ],
        "render": [
            {
                "name": "image",
                "messages": messages,
                "options": {"thinking": False, "gen": False, "image_prompts": [image]},
                "text": prompt.text,
                "segments": [[segment.control, segment.text] for segment in prompt.segments],
                "n_ids": len(prompt.encode(tokenizer).ids),
            }
        ],
        "parse_k3": [
            {
                "id": "a",
                "modes": "token text",
                "initial": "think",
                "tools_declared": True,
                "text": TURN,
                "ids": tokenizer.encode(TURN, special=True),
                "expect": {"reasoning": "r", "content": "x", "tool_calls": []},
            },
            {
                "id": "b",
                "modes": "token",
                "initial": "response",
                "segments": [[False, "<|sep|>"], [True, "<|end_of_msg|>"]],
                "expect": {"content": "<|sep|>"},
            },
        ],
        "parse_k2": [
            {
                "id": "c",
                "initial": "content",
                "tools": None,
                "text": K2_TURN,
                "ids": Tokenizer.load(model, family="k2").encode(K2_TURN, special=True),
                "expect": {
                    "reasoning": None,
                    "content": "x",
                    "tool_calls": [{"wire_id": "functions.f:0", "name": "f", "arguments": "{}"}],
                },
            }
        ],
        "image_tokens": [{"width": 28, "height": 56, "num_tokens": 2, "padded_h": 56}],
    }


def run(tmp_path: Path, model: Path, fixtures: object) -> int:
    file = tmp_path / "fixtures.json"
    file.write_text(json.dumps(fixtures))
    return main([str(file), str(model)])


def test_right_fixtures_pass(
    tmp_path: Path, model: Path, fixtures: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, model, fixtures) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.endswith(" passed, 0 failed")
    assert int(last.split()[0]) > 25


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("tokenize", "ids_text_mode", [1]),
        ("render", "text", "?"),
        ("render", "options", {"thinking": "?", "color": 1}),
        ("parse_k3", "expect", {"content": "y"}),
        ("parse_k3", "initial", "?"),
        ("parse_k2", "expect", {"tool_calls": []}),
        ("image_tokens", "num_tokens", 3),
    ],
)
def test_wrong_fixtures_fail(
    tmp_path: Path,
    model: Path,
    fixtures: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
    section: str,
    key: str,
    value: object,
) -> None:
    fixtures[section][0][key] = value
    assert run(tmp_path, model, fixtures) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"FAILED {section}")
    assert not lines[-1].endswith(" 0 failed")


def test_files_that_cannot_be_used(
    tmp_path: Path, model: Path, fixtures: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 2
    assert main([str(tmp_path / "missing.json"), str(model)]) == 2
    assert run(tmp_path, model, []) == 2
    assert run(tmp_path, tmp_path / "missing.model", fixtures) == 2
    for section in ("tokenize", "render", "parse_k3", "parse_k2", "image_tokens"):
        assert run(tmp_path, model, {section: True}) == 2
        assert run(tmp_path, model, {section: [3]}) == 2
    (tmp_path / "deep.json").write_text("[" * 100_000)
    assert main([str(tmp_path / "deep.json"), str(model)]) == 2
    assert capsys.readouterr().out == ""


def test_a_case_of_a_wrong_form_fails_alone(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [{"expect": {}, "initial": "response", "text": "x", "modes": None}, {}]
    assert run(tmp_path, model, {"parse_k3": cases, "tokenize": [{"text": "a"}]}) == 1
    assert capsys.readouterr().out.endswith("2 passed, 2 failed\n")


def test_another_rank_file_is_noticed(
    tmp_path: Path, model: Path, fixtures: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    fixtures["tiktoken_model_sha256"] = "0"
    assert run(tmp_path, model, fixtures) == 1
    assert "FAILED tiktoken model sha256" in capsys.readouterr().out


def test_what_other_fixtures_may_hold(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    user = [{"role": "user", "content": "hi"}]
    k2 = "<|im_user|>user<|im_middle|>hi<|im_end|>"
    fixtures = {
        "tokenize": [
            {
                "text": "a",
                "repeat": 3,
                "prefix": "b",
                "suffix": "c",
                "n_ids": 5,
                "ids_text_mode": [98, 97, 97, 97, 99],
            },
            {"text": "a\ud800"},
        ],
        "render": [
            {"messages": [{"role": "?"}], "error": True},
            {"messages": user, "error": False},
            {"messages": user, "options": {"tools": None, "effort": None}, "start": "think"},
            {"messages": user, "options": {"variant": "k2.5", "gen": False}, "text": k2, "start": "idle"},
        ],
        "parse_k3": [
            {
                "initial": "think",
                "modes": ["text", "token"],
                "skipped_think": "reasoning",
                "text": "x<|close|>response<|sep|><|close|>message<|sep|>",
                "expect": {"reasoning": "x", "content": None, "finish_reason": "stop"},
            }
        ],
        "parse_k2": [
            {
                "initial": "think",
                "tools_declared": False,
                "segments": [[False, "hm"], [True, "</think>"], [False, "<|im_end|>"]],
                "modes": "token",
                "expect": {"reasoning": "hm", "content": "<|im_end|>"},
            }
        ],
        "image_tokens": [{"width": 4000, "height": 3000, "in_patch_limit": 16384, "num_tokens": 4200}],
    }
    code = run(tmp_path, model, fixtures)
    assert (capsys.readouterr().out.splitlines()[-1], code) == ("24 passed, 0 failed", 0)
    fixtures["render"] = [{"messages": user, "error": True}]
    fixtures["parse_k2"] = [{"initial": "think", "expect": {}}]
    assert run(tmp_path, model, fixtures) == 1
    assert capsys.readouterr().out.endswith(", 2 failed\n")
