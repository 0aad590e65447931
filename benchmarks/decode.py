"""How fast the engine writes, reads and begins, and what masks cost, on one CPU thread.

    python benchmarks/decode.py [--model SOURCE] [--json]

SOURCE is a folder with a model checkpoint, or "tiny". A folder with a config but no weights is measured with
random ones: speed does not depend on them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import anyio

import kimi_sdk
from kimi_sdk.engine.checkpoint import load
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.engine import Engine, Request
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.sampler import SamplingParams, TokenMask
from kimi_sdk.protocol.grammar import TurnGrammar
from kimi_sdk.protocol.tokenizer import Tokenizer
from kimi_sdk.tools.builtin import builtin_tools

BUNDLED = Path(kimi_sdk.__file__).parent / "checkpoints" / "k3-mini"
MakeMask = Callable[[], TokenMask | None]


@dataclass(kw_only=True)
class Result:
    """One run of the benchmark; rates are tokens a second.

    Attributes:
        weights: "loaded" or "random".
        decode: answers' tokens a second, all of them together, by how many are written at once.
        prefill: prompt tokens a second.
        first_token_ms: from submission to the first token, by prompt length.
        masked: as ``decode``, with the grammar of a turn with tools.
        mask_share: of that run's busy time, in masks; by how many are written at once.
        mask_us: microseconds in masks for each token of that run.
    """

    model: str
    weights: str
    threads: int
    decode: dict[int, float] = field(default_factory=dict)
    prefill: float = 0.0
    first_token_ms: dict[int, float] = field(default_factory=dict)
    masked: dict[int, float] = field(default_factory=dict)
    mask_share: dict[int, float] = field(default_factory=dict)
    mask_us: dict[int, float] = field(default_factory=dict)


def open_model(source: str) -> tuple[K3, Tokenizer | None, str]:
    """The model, its tokenizer (if there is one), and where its weights are from."""
    folder = Path(source)
    own = folder if (folder / "tiktoken.model").is_file() else BUNDLED
    tokenizer = Tokenizer.load(own) if (own / "tiktoken.model").is_file() else None
    if source == "tiny":
        vocab = tokenizer.vocab_size if tokenizer else 8192
        return K3(K3Config.tiny(vocab=vocab)).fuse(), tokenizer, "random"
    if next(folder.glob("*.safetensors"), None) is None:
        return K3(K3Config.load(folder)).fuse(), tokenizer, "random"
    return load(folder), tokenizer, "loaded"


def asked(length: int, tokens: int, mask: TokenMask | None = None) -> Request:
    """A request with a prompt of ``length`` for ``tokens`` tokens; warm where a mask leaves choices."""
    ids = [(7 * position + length) % 997 for position in range(length)]
    temperature = 0.0 if mask is None else 1.0
    sampling = SamplingParams(temperature=temperature, top_p=1.0, seed=length, max_tokens=tokens)
    return Request(ids=ids, mask=mask, sampling=sampling)


async def decode(engine: Engine, batch: int, tokens: int, make_mask: MakeMask) -> float:
    """Tokens a second of ``batch`` answers written at once, after all of them have begun."""
    stamps: list[list[tuple[float, int]]] = [[] for _ in range(batch)]

    async def read(number: int) -> None:
        async for got in engine.submit(asked(32 + number, tokens, make_mask())):
            stamps[number].append((time.perf_counter(), len(got)))

    async with anyio.create_task_group() as tasks:
        for number in range(batch):
            tasks.start_soon(read, number)
    begun = max(stamp[0][0] for stamp in stamps)
    ended = max(stamp[-1][0] for stamp in stamps)
    count = sum(n for stamp in stamps for moment, n in stamp if moment > begun)
    return count / (ended - begun) if ended > begun else 0.0


def first_token(engine: Engine, length: int) -> float:
    """Seconds from submitting a prompt of ``length`` tokens to its first token."""
    begun = time.perf_counter()
    for _ in engine.submit(asked(length, 1)):
        pass
    return time.perf_counter() - begun


def masks(tokenizer: Tokenizer) -> MakeMask:
    """The grammar of a turn that may answer or call the built-in tools; one mask a request."""
    tools = [tool.declaration for tool in builtin_tools()]
    grammar = TurnGrammar.build(tokenizer, start="think", tools=tools)
    return grammar.matcher


def measure(source: str, *, tokens: int, prompt: int, repeats: int) -> Result:
    """Run everything; each number is the median of ``repeats`` runs after one to warm up."""
    model, tokenizer, weights = open_model(source)
    make_mask = masks(tokenizer) if tokenizer else None
    engine = Engine(model, slots=8, vocab=tokenizer.vocab_size if tokenizer else None, threads=1)
    result = Result(model=Path(source).name, weights=weights, threads=1)

    def median(run: Callable[..., float], *arguments: Any) -> float:
        run(*arguments)
        return statistics.median(run(*arguments) for _ in range(repeats))

    def rate(batch: int, mask: MakeMask) -> float:
        return anyio.run(decode, engine, batch, tokens, mask)

    try:
        for batch in (1, 8):
            result.decode[batch] = median(rate, batch, lambda: None)
        result.prefill = prompt / median(first_token, engine, prompt)
        for length in (32, 256):
            result.first_token_ms[length] = 1000 * median(first_token, engine, length)
        if make_mask is None:
            return result
        for batch in (1, 8):
            before = engine.stats()
            result.masked[batch] = median(rate, batch, make_mask)
            after = engine.stats()
            spent = after.mask_seconds - before.mask_seconds
            result.mask_share[batch] = spent / (after.busy_seconds - before.busy_seconds)
            result.mask_us[batch] = 1e6 * spent / (after.output_tokens - before.output_tokens)
    finally:
        engine.close()
    return result


def lines(result: Result) -> Iterator[str]:
    """The result for a reader."""
    yield f"{result.model}, {result.weights} weights, {result.threads} CPU thread"
    for batch, rate in result.decode.items():
        yield f"  decode, batch {batch}: {rate:,.0f} tok/s"
    yield f"  prefill: {result.prefill:,.0f} tok/s"
    for length, milliseconds in result.first_token_ms.items():
        yield f"  first token of a prompt of {length}: {milliseconds:.1f} ms"
    for batch, rate in result.masked.items():
        cost = f"{result.mask_share[batch]:.1%} in masks, {result.mask_us[batch]:.0f} us a token"
        yield f"  under a turn's grammar, batch {batch}: {rate:,.0f} tok/s, {cost}"


def rounded(value: Any) -> Any:
    """Four significant digits everywhere."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    default = str(BUNDLED) if (BUNDLED / "config.json").is_file() else "tiny"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=default, metavar="SOURCE")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--tokens", type=int, default=128, help="tokens of every answer")
    parser.add_argument(
        "--prompt", type=int, default=2048, help="tokens of the prompt that prefill is measured on"
    )
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(argv)
    result = measure(options.model, tokens=options.tokens, prompt=options.prompt, repeats=options.repeats)
    if options.json:
        print(json.dumps(rounded(asdict(result))))
    else:
        print("\n".join(lines(result)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
