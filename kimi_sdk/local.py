"""Turns written by the engine in this process.

Knows which files make a model and when they are loaded. Leaves one turn's way to ``local_turn.py``, and
tokens and tensors to ``protocol`` and ``engine``.
"""

from __future__ import annotations

import base64
import json
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from anyio import to_thread

from kimi_sdk import background
from kimi_sdk.backend import Declaration, PromptRequest, TurnRequest, TurnStream
from kimi_sdk.errors import ConfigError, EngineClosed, LoadError
from kimi_sdk.local_turn import LocalTurn, prompt_size
from kimi_sdk.output import Constraint
from kimi_sdk.progress import Progress, byte_bar
from kimi_sdk.settings import Sampling
from kimi_sdk.source import PathLike, find

if TYPE_CHECKING:
    from kimi_sdk.engine.config import K3Config
    from kimi_sdk.engine.engine import Engine
    from kimi_sdk.engine.k3 import K3
    from kimi_sdk.protocol.tokenizer import Tokenizer
    from kimi_sdk.vision.preprocess import MediaLimits


class LocalBackend:
    """One model in this process: configuration at once, tokenizer when text comes, weights at the first turn.

    Attributes:
        name: how people call it.
        config: its shape.
        sampling: its own generation settings.
        context: most tokens a conversation may have.
    """

    def __init__(
        self,
        *,
        name: str,
        config: K3Config,
        read_tokenizer: Callable[[], Tokenizer],
        read_weights: Callable[[Progress], K3],
        read_media_limits: Callable[[], MediaLimits],
        sampling: Sampling | None = None,
        folder: Path | None = None,
        context: int | None = None,
        cache_bytes: int | None = None,
        max_running: int = 8,
    ) -> None:
        counts = {"context": context, "cache_bytes": cache_bytes, "max_running": max_running}
        for label, value in counts.items():
            if value is not None and type(value) is not int:
                raise ConfigError(f"{label} must be a whole number, not {value!r}.")
        if max_running < 1:
            raise ConfigError(f"max_running must be at least 1, not {max_running!r}.")
        if context is not None and not 1 <= context <= config.text.context:
            raise ConfigError(
                f"context must lie in 1..{config.text.context}, the model's own, not {context!r}."
            )
        self.name = name
        self.config = config
        self.sampling = sampling or Sampling()
        self.context = context or config.text.context
        self.active = 0
        self._folder = folder
        self._read_tokenizer = read_tokenizer
        self._read_weights = read_weights
        self._read_media_limits = read_media_limits
        self._cache_bytes = cache_bytes
        self._max_running = max_running
        self._loading = threading.Lock()
        self._counting = threading.Lock()
        self._engine: Engine | None = None
        self._weights: K3 | None = None
        self._closed = False

    @classmethod
    def from_pretrained(
        cls,
        source: PathLike,
        *,
        revision: str | None = None,
        device: str = "auto",
        dtype: str = "auto",
        context: int | None = None,
        cache_bytes: int | None = None,
        max_running: int = 8,
    ) -> Self:
        """Reads the configuration of a model checkpoint; see ``Model.from_pretrained``."""
        from kimi_sdk.engine.config import K3Config
        from kimi_sdk.protocol.tokenizer import Tokenizer

        if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", device):
            raise ConfigError(f'device must be "auto", "cpu", "cuda" or "cuda:N", not {device!r}.')
        if dtype not in ("auto", "float32", "bfloat16"):
            raise ConfigError(f'dtype must be "auto", "float32" or "bfloat16", not {dtype!r}.')
        folder = find(source, revision)

        def read_weights(progress: Progress) -> K3:
            if os.environ.get("KIMI_SDK_FORBID_LOADING"):
                raise LoadError(f"Loading weights is forbidden here, and {name!r} was to be loaded.")
            from kimi_sdk.engine.checkpoint import load

            # The engine's own code is the CPU's: a GPU is taken only where it was asked for.
            return load(folder, device="cpu" if device == "auto" else device, dtype=dtype, progress=progress)

        name = os.fspath(source)
        return cls(
            name=name,
            config=K3Config.load(folder),
            read_tokenizer=lambda: Tokenizer.load(folder),
            read_weights=read_weights,
            read_media_limits=lambda: read_media_limits(folder),
            sampling=read_sampling(folder),
            folder=folder,
            context=context,
            cache_bytes=cache_bytes,
            max_running=max_running,
        )

    @classmethod
    def from_config(cls, config: Mapping[str, Any] | Literal["tiny"] = "tiny", *, seed: int = 0) -> Self:
        """Random weights, and a tokenizer with one token for each byte; see ``Model.from_config``."""
        from kimi_sdk.engine.config import K3Config
        from kimi_sdk.protocol.tokenizer import DEFAULT_SLOTS

        if not isinstance(config, Mapping) and config != "tiny":
            raise ConfigError(f'from_config takes a mapping or "tiny", not {config!r}.')
        shape = K3Config.tiny() if isinstance(config, str) else K3Config.from_dict(config)
        slots = min(DEFAULT_SLOTS, shape.text.vocab - 256)
        if slots < 1:
            raise ConfigError(f"The vocabulary has {shape.text.vocab} tokens; bytes and markers need 512.")

        def make_weights(progress: Progress) -> K3:
            from kimi_sdk.engine.checkpoint import in_memory
            from kimi_sdk.engine.k3 import K3

            with in_memory():
                return K3(shape, seed=seed)

        return cls(
            name="tiny" if isinstance(config, str) else "random",
            config=shape,
            read_tokenizer=lambda: _byte_tokenizer(slots),
            read_weights=make_weights,
            read_media_limits=default_media_limits,
        )

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Read when first needed."""
        return self._read_tokenizer()

    @cached_property
    def media_limits(self) -> MediaLimits:
        """How images are cut into patches; read when first needed."""
        limits, tower = self._read_media_limits(), self.config.vision
        if tower is not None and (limits.patch, limits.merge) != (
            tower.patch_size,
            tower.merge_kernel_size[0],
        ):
            raise LoadError(
                f"The images of {self.name} are cut into patches of {limits.patch} px, {limits.merge} a side "
                f"of one token; its vision tower takes {tower.patch_size} px and {tower.merge_kernel_size}."
            )
        return limits

    async def start(self) -> None:
        """Loads the weights, in a worker thread; callers that come meanwhile wait for the same load."""
        if self._engine is None or self._closed:
            await to_thread.run_sync(self.engine, abandon_on_cancel=True)

    def engine(self) -> Engine:
        """The engine, with weights; blocks while they load.

        Raises:
            LoadError: the files are not a model this engine runs.
            EngineClosed: the model was closed.
        """
        with background.held(), self._loading:
            self.check_open()
            if self._engine is None:
                self._engine = self._load()
            return self._engine

    def check_open(self) -> None:
        """Raises EngineClosed once the model was closed."""
        if self._closed:
            raise EngineClosed(f"The model {self.name} was closed; make a new Model to go on.")

    def _load(self) -> Engine:
        from kimi_sdk.engine.engine import Engine

        if self.tokenizer.vocab_size > self.config.text.vocab:
            raise LoadError(
                f"The tokenizer of {self.name} has {self.tokenizer.vocab_size:,} tokens and config.json's "
                f"vocab_size is {self.config.text.vocab:,}: they are not of one model."
            )
        with byte_bar(f"Loading {self.name}") as advance:

            def progress(read: int, total: int) -> None:
                self.check_open()
                background.check()
                advance(read, total)

            model = self._read_weights(progress)
        self.check_open()
        self._weights = model
        pages = None
        if self._cache_bytes is not None:
            pages = max(1, self._cache_bytes // model.caches(slots=1, pages=1).pages.bytes_per_page)
        return Engine(model, slots=self._max_running, pages=pages, vocab=self.tokenizer.vocab_size)

    def save(self, folder: Path, *, max_shard_bytes: int) -> None:
        """Writes weights, configuration and side files; see ``Model.save_pretrained``."""
        from kimi_sdk.engine.checkpoint import save
        from kimi_sdk.engine.slicing import copy_side_files

        self.engine()
        with self._loading:
            self.check_open()
            assert self._weights is not None, "an engine has weights"
            save(self._weights, folder, max_shard_bytes=max_shard_bytes)
        if self._folder is not None:
            copy_side_files(self._folder, folder)
        else:
            _write_tokenizer(self.tokenizer, folder)

    def turn(self, request: TurnRequest | PromptRequest) -> TurnStream:
        return LocalTurn(self, request)

    def count(self, request: TurnRequest) -> int:
        return prompt_size(self, request)

    def check(self, tools: Sequence[Declaration], output: Constraint[Any] | None) -> None:
        from kimi_sdk.protocol.grammar import TurnGrammar

        # What can be enforced does not depend on the vocabulary: bytes compile at once.
        TurnGrammar.build(_byte_tokenizer(), start="think", tools=tools, output=output)

    def busier(self, by: int) -> None:
        """Counts turns that begin (1) or end (-1)."""
        with self._counting:
            self.active += by

    def close(self) -> None:
        self._closed = True  # seen by a load that is under way
        with self._loading:
            engine, self._engine, self._weights = self._engine, None, None
        if engine is not None:
            engine.close()


@lru_cache
def _byte_tokenizer(slots: int = 256) -> Tokenizer:
    """One token for each byte, and K3's special slots."""
    from kimi_sdk.protocol.tokenizer import Tokenizer

    return Tokenizer({bytes([byte]): byte for byte in range(256)}, slots=slots)


def _write_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """A tokenizer that came from no file, as the files that ``Tokenizer.load`` reads."""
    tokens = enumerate(map(tokenizer.token_bytes, range(tokenizer.base_size)))
    lines = [f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in tokens]
    (folder / "tiktoken.model").write_text("".join(lines), "ascii")
    slots = tokenizer.vocab_size - tokenizer.base_size
    (folder / "tokenizer_config.json").write_text(json.dumps({"special_slots": slots}) + "\n", "utf-8")


def read_sampling(folder: Path) -> Sampling:
    """The generation settings of a checkpoint folder, the package's defaults where it has none.

    Raises:
        LoadError: ``generation_config.json`` cannot be read, or holds values out of range.
    """
    file = folder / "generation_config.json"
    if not file.is_file():
        return Sampling()
    try:
        settings = _json_object(file)
        given = {name: settings[key] for key, name in _SETTINGS.items() if settings.get(key) is not None}
        if settings.get("do_sample") is False:
            given["temperature"] = 0.0
        return Sampling(**given)
    except (OSError, ValueError, RecursionError) as error:
        raise LoadError(f"{file} cannot be used: {error}") from error


def read_media_limits(folder: Path) -> MediaLimits:
    """What ``preprocessor_config.json`` says about images, K3's own limits where there is none.

    Raises:
        LoadError: the file cannot be read.
    """
    from kimi_sdk.vision.preprocess import MediaLimits

    file = folder / "preprocessor_config.json"
    if not file.is_file():
        return MediaLimits()
    try:
        return MediaLimits.from_config(_json_object(file))
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise LoadError(f"{file} cannot be used: {error}") from error


def _json_object(file: Path) -> dict[str, Any]:
    found = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"it holds {type(found).__name__}, a JSON object is wanted")
    return found


def default_media_limits() -> MediaLimits:
    """K3's own."""
    from kimi_sdk.vision.preprocess import MediaLimits

    return MediaLimits()


_SETTINGS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_new_tokens": "max_tokens",
    "thinking": "thinking",
    "effort": "effort",
}
