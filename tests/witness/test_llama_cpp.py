"""llama.cpp's graphs of kimi-k3 and kimi-linear over files that the export writes: the same greedy tokens."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from witness_models import Talk, distance, greedy, prompt, raw_k3, raw_kimi_linear, saved

from kimi_sdk.engine import checkpoint
from kimi_sdk.engine.k3 import K3
from kimi_sdk.export import export_gguf
from kimi_sdk.protocol.tokenizer import Tokenizer
from kimi_sdk.source import BUNDLED

if importlib.util.find_spec("llama_cpp") is None:
    pytest.skip("llama-cpp-python is not installed (extra: witness)", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")  # what a foreign package warns of is not ours to mend

MINI = BUNDLED / "k3-mini"
STEPS = 64
VOCAB = 8192


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """llama.cpp's model of a file, with fp32 caches and one thread."""
    llama_cpp = pytest.importorskip("llama_cpp")
    model = llama_cpp.Llama(
        model_path=str(path),
        n_ctx=512,
        n_batch=256,
        n_ubatch=256,
        n_threads=1,
        n_threads_batch=1,
        n_gpu_layers=0,
        type_k=llama_cpp.GGML_TYPE_F32,
        type_v=llama_cpp.GGML_TYPE_F32,
        flash_attn=False,
        logits_all=True,
        verbose=False,
    )
    try:
        yield model
    finally:
        model.close()


def fed(model: Any, ids: list[int]) -> Tensor:
    """Logits [n, vocab] of new tokens."""
    start = model.n_tokens
    model.eval(ids)
    return torch.from_numpy(np.array(model.scores[start : start + len(ids)], dtype=np.float32))


def their_greedy(model: Any, ids: list[int], steps: int) -> tuple[list[int], Tensor]:
    """Greedy tokens after a prompt, one a step, and the logits that chose them."""
    rows = [fed(model, ids)[-1]]
    for _ in range(steps - 1):
        rows.append(fed(model, [int(rows[-1].argmax())])[-1])
    return [int(row.argmax()) for row in rows], torch.stack(rows)


def with_tokenizer(raw: dict[str, Any], folder: Path) -> K3:
    """A random model of the bundled tokenizer's vocabulary."""
    body = raw.get("text_config", raw)
    body["vocab_size"] = VOCAB
    for place in (raw, body):
        if "eos_token_id" in place:
            place |= {"bos_token_id": VOCAB - 64, "eos_token_id": VOCAB - 62, "pad_token_id": VOCAB - 1}
    model = saved(raw, folder)
    for name in ("tiktoken.model", "tokenizer_config.json"):
        (folder / name).write_bytes((MINI / name).read_bytes())
    return model


@pytest.mark.parametrize("kind", ["kimi-k3", "kimi-linear"])
def test_random_models(tmp_path: Path, kind: str) -> None:
    ours = with_tokenizer(raw_k3() if kind == "kimi-k3" else raw_kimi_linear(), tmp_path / "model")
    done = export_gguf(tmp_path / "model", tmp_path / "m.gguf", storage="f32")
    assert done.architecture == kind
    ids = prompt(200, VOCAB)
    with opened(tmp_path / "m.gguf") as model:
        apart = distance(Talk(ours, len(ids)).feed(ids), fed(model, ids))
    tokens, logits = greedy(ours, ids[:20], STEPS)
    with opened(tmp_path / "m.gguf") as model:
        theirs, their_logits = their_greedy(model, ids[:20], STEPS)
    later = distance(logits, their_logits)
    print(f"{kind}: relative L2 {apart:.1e} over a prompt, {later:.1e} over {STEPS} steps")
    assert apart <= 5e-5
    assert tokens == theirs


def test_stored_as_it_is(tmp_path: Path) -> None:
    """bf16 matrices and MXFP4 experts: llama.cpp rounds what it multiplies them with, to bf16 and 8 bits."""
    ours = with_tokenizer(raw_k3(), tmp_path / "model")
    export_gguf(tmp_path / "model", tmp_path / "m.gguf")
    ids = prompt(100, VOCAB)
    with opened(tmp_path / "m.gguf") as model:
        apart = distance(Talk(ours, len(ids)).feed(ids), fed(model, ids))
    print(f"bf16 and MXFP4: relative L2 {apart:.1e}")
    assert apart <= 0.1


def mini_prompts() -> list[list[int]]:
    """Questions as the protocol renders them."""
    from kimi_sdk.protocol.render import render

    tokenizer = Tokenizer.load(MINI)
    asked = ("What is 17 * 23?", "Write one sentence about the sea.", "Which day follows Monday?")
    return [list(render([{"role": "user", "content": text}]).encode(tokenizer).ids) for text in asked]


@pytest.mark.skipif(not any(MINI.glob("*.safetensors")), reason="the bundled model has no weights here")
def test_bundled_model_greedily(tmp_path: Path) -> None:
    ours = checkpoint.load(MINI)
    export_gguf(MINI, tmp_path / "mini.gguf", storage="f32")
    for ids in mini_prompts():
        tokens, logits = greedy(ours, ids, STEPS)
        with opened(tmp_path / "mini.gguf") as model:
            theirs, their_logits = their_greedy(model, ids, STEPS)
        worst = float((logits - their_logits).abs().max())
        print(f"{STEPS} greedy tokens, largest difference of logits {worst:.1e}")
        assert tokens == theirs
        assert worst <= 1e-3


def test_bundled_tokenizer(tmp_path: Path) -> None:
    with_tokenizer(raw_k3(), tmp_path / "model")
    export_gguf(tmp_path / "model", tmp_path / "m.gguf")
    tokenizer = Tokenizer.load(MINI)
    texts = [
        "Hello world, it's 12345 o'clock; don't!",
        "  def f(x):\n\treturn x**2  # naïve\n\n",
        "中文 and English 混合, ÄÖÜ ß, \u00a0 \U0001f600",
        "<|open|> is only text here",
    ]
    with opened(tmp_path / "m.gguf") as model:
        for text in texts:
            found = model.tokenize(text.encode(), add_bos=False, special=False)
            assert found == tokenizer.encode(text)
            assert model.detokenize(found, special=True) == text.encode()
        assert model.tokenize(b"<|open|>", add_bos=False, special=True) == [tokenizer.open_id]
        assert model.token_eos() == VOCAB - 62
