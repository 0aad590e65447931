"""Kimi-Linear as Hugging Face transformers computes it, on one checkpoint that both read."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from witness_models import VOCAB, Talk, distance, greedy, prompt, raw_kimi_linear, saved

from kimi_sdk.engine.k3 import K3

if importlib.util.find_spec("transformers") is None:
    pytest.skip("transformers is not installed (extra: witness)", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")  # what a foreign package warns of is not ours to mend

STEPS = 64


def plain_transformers() -> Any:
    """transformers with its PyTorch paths: at import it would take Triton kernels, which a CPU cannot run."""
    hidden = {name: sys.modules.get(name) for name in ("fla", "causal_conv1d")}
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        transformers = importlib.import_module("transformers")
        importlib.import_module("transformers.models.kimi_linear.modeling_kimi_linear")
    except ModuleNotFoundError:
        pytest.skip("this transformers has no kimi_linear")
    finally:
        for name, module in hidden.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    return transformers


def theirs(folder: Path) -> Any:
    """transformers' model of a folder, in fp32 on plain PyTorch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers = plain_transformers()
        model, told = transformers.KimiLinearForCausalLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True
        )
    assert not told["missing_keys"]
    assert not told["unexpected_keys"]
    return model.eval()


@pytest.fixture(scope="module", params=[None, 24], ids=["plain-q", "low-rank-q"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[K3, Any]:
    folder = tmp_path_factory.mktemp("kimi-linear")
    ours = saved(raw_kimi_linear(q_lora_rank=request.param), folder)
    return ours, theirs(folder)


@pytest.mark.parametrize("length", [1, 5, 64, 150])
def test_logits_of_a_prompt(pair: tuple[K3, Any], length: int) -> None:
    ours, other = pair
    ids = prompt(length, VOCAB)
    found = Talk(ours, length).feed(ids)
    with torch.inference_mode():
        wanted = other(torch.tensor([ids])).logits[0].float()
    worst, apart = float((found - wanted).abs().max()), distance(found, wanted)
    print(f"length {length}: largest difference {worst:.2e} (relative L2 {apart:.1e})")
    assert apart <= 1e-5
    assert worst <= 1e-4


def test_greedy_tokens_with_caches(pair: tuple[K3, Any]) -> None:
    ours, other = pair
    ids = prompt(20, VOCAB, seed=5)
    tokens, logits = greedy(ours, ids, STEPS)
    with torch.inference_mode():
        out = other.generate(
            torch.tensor([ids]),
            max_new_tokens=STEPS,
            min_new_tokens=STEPS,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
        )
    wanted = torch.stack([row[0] for row in out.logits]).float()
    assert tokens == out.sequences[0, len(ids) :].tolist()
    worst = float((logits - wanted).abs().max())
    print(f"{STEPS} steps: largest difference {worst:.2e}, {len(set(tokens))} different tokens")
    assert worst <= 1e-4
