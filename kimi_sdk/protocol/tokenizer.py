"""Text to token ids and back: a tiktoken rank file with the special names of K3 or K2.

Knows the rank file's format, the special slots behind the base ranks and K3's rule for cutting long input;
leaves to ``segments`` which text may hold specials. A folder's ``tokenizer_config.json`` may give
``special_slots`` (how many ids follow the base ranks; 256 without it) and ``added_tokens_decoder``
(``{"<id>": {"content": "<name>"}}``, which replaces the built-in names and tells the family).
"""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self, TypeAlias

import tiktoken

from kimi_sdk.errors import ConfigError, LoadError

Family: TypeAlias = Literal["k3", "k2"]

RANK_FILE = "tiktoken.model"
CONFIG_FILE = "tokenizer_config.json"
LARGEST_FILE = 64 << 20
DEFAULT_SLOTS = 256

# Characters (code points) of one piece, and of one run of blanks or of non-blanks within it. Both limits
# belong to the format: they decide token ids of huge inputs.
PIECE = 400_000
RUN = 25_000

# Offsets from the first id behind the base ranks; a negative offset counts from the last slot.
K3_NAMES: Mapping[int, str] = MappingProxyType(
    {
        0: "[BOS]",
        1: "[EOS]",
        2: "<|end_of_msg|>",
        3: "<|open|>",
        4: "<|close|>",
        5: "<|sep|>",
        6: "[start_header_id]",
        7: "[end_header_id]",
        9: "[EOT]",
        18: "<|media_begin|>",
        19: "<|media_content|>",
        20: "<|media_end|>",
        21: "<|media_pad|>",
        65: "<osagent_mode>",
        -2: "[UNK]",
        -1: "[PAD]",
    }
)
K2_NAMES: Mapping[int, str] = MappingProxyType(
    {
        0: "[BOS]",
        1: "[EOS]",
        2: "<|im_end|>",
        3: "<|im_user|>",
        4: "<|im_assistant|>",
        6: "<|start_header_id|>",
        7: "<|end_header_id|>",
        9: "[EOT]",
        10: "<|im_system|>",
        11: "<|tool_calls_section_begin|>",
        12: "<|tool_calls_section_end|>",
        13: "<|tool_call_begin|>",
        14: "<|tool_call_argument_begin|>",
        15: "<|tool_call_end|>",
        17: "<|im_middle|>",
        18: "<|media_begin|>",
        19: "<|media_content|>",
        20: "<|media_end|>",
        21: "<|media_pad|>",
        22: "<think>",
        23: "</think>",
        -2: "[UNK]",
        -1: "[PAD]",
    }
)
_NAMES: Mapping[Family, Mapping[int, str]] = MappingProxyType({"k3": K3_NAMES, "k2": K2_NAMES})
_REQUIRED: Mapping[Family, tuple[str, ...]] = MappingProxyType(
    {
        "k3": ("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"),
        "k2": ("<|im_end|>", "<|im_user|>", "<|im_assistant|>", "<|im_system|>", "<|im_middle|>"),
    }
)

_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
_CLITIC = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
PATTERN = "|".join(
    (
        r"[\p{Han}]+",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CLITIC}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CLITIC}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
_RUNS = re.compile(r"\s+|\S+")


class IncrementalDecoder:
    """Turns ids into text one at a time and never splits a character."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """The text that ``token`` completes, ``""`` while a character is still incomplete."""
        return self._utf8.decode(self._tokenizer.token_bytes(token))

    def finish(self) -> str:
        """What is left: U+FFFD for a character that never became complete, else ``""``."""
        text = self._utf8.decode(b"", True)
        self._utf8.reset()
        return text


class Tokenizer:
    """Byte-level BPE with a block of special ids behind the base ranks.

    Attributes:
        vocab_size: base ranks and special slots together (163,840 for K3).
        base_size: base ranks; ids from here on are special.
        family: whose special names the slots have.
        specials: id of every special slot by its spelling.
        encoding: the tiktoken encoding behind it.
    """

    def __init__(
        self,
        ranks: Mapping[bytes, int],
        *,
        slots: int = DEFAULT_SLOTS,
        names: Mapping[int, str] | None = None,
        family: Family = "k3",
    ) -> None:
        """Builds a tokenizer from ranks.

        Args:
            ranks: rank of every base token, 0 up to ``len(ranks) - 1``, all 256 bytes among them.
            slots: special ids that follow.
            names: special names by id, instead of the family's own.
            family: ``"k3"`` or ``"k2"``.

        Raises:
            LoadError: ranks with holes or without some byte; a name outside the slots, or missing.
        """
        self.family: Family = family
        self.base_size = len(ranks)
        self.vocab_size = self.base_size + slots
        self._bytes = _by_rank(ranks)
        self.specials = MappingProxyType(self._name_slots(slots, names))
        self._bytes += [name.encode() for name in self.specials]
        self.encoding = tiktoken.Encoding(
            family, pat_str=PATTERN, mergeable_ranks=dict(ranks), special_tokens=dict(self.specials)
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, family: Family | None = None) -> Self:
        """Reads a rank file, or a folder that holds ``tiktoken.model``.

        Args:
            path: the file or the folder.
            family: whose special names to take; without it the folder's own names tell, else it is K3's.

        Raises:
            LoadError: the file is missing, larger than 64 MiB, or not a rank file.
        """
        place = Path(path)
        file = place / RANK_FILE if place.is_dir() else place
        settings = _read_config(file.parent / CONFIG_FILE) if place.is_dir() else {}
        ranks = _read_ranks(file)
        slots, names = _slots_of(settings, len(ranks), file.parent / CONFIG_FILE)
        try:
            return cls(ranks, slots=slots, names=names, family=family or _family_of(names))
        except LoadError as error:
            raise LoadError(f"{file}: {error}") from None

    def _name_slots(self, slots: int, names: Mapping[int, str] | None) -> dict[str, int]:
        first, end = self.base_size, self.vocab_size
        spelled = {number: f"<|reserved_token_{number}|>" for number in range(first, end)}
        if names is None:
            offsets = (
                (offset if offset >= 0 else slots + offset, name)
                for offset, name in _NAMES[self.family].items()
            )
            names = {first + offset: name for offset, name in offsets if 0 <= offset < slots}
        for number, name in names.items():
            if number not in spelled:
                raise LoadError(f"special token {name!r} has id {number}, outside {first}..{end - 1}.")
            spelled[number] = name
        specials = {name: number for number, name in spelled.items()}
        if len(specials) != slots:
            raise LoadError("two special tokens have the same name.")
        missing = [name for name in _REQUIRED[self.family] if name not in specials]
        if missing:
            raise LoadError(
                f"special token {missing[0]!r} is not named, so this is no {self.family.upper()} tokenizer; "
                f"give the right tokenizer_config.json, or another family."
            )
        return specials

    def special(self, name: str) -> int:
        """Id of a special token by its spelling.

        Raises:
            ConfigError: there is no such special token.
        """
        try:
            return self.specials[name]
        except KeyError:
            raise ConfigError(
                f"This {self.family.upper()} tokenizer has no special token {name!r}."
            ) from None

    @property
    def stop_id(self) -> int:
        """The token that ends a message."""
        return self.special("<|end_of_msg|>" if self.family == "k3" else "<|im_end|>")

    @property
    def open_id(self) -> int:
        return self.special("<|open|>")

    @property
    def close_id(self) -> int:
        return self.special("<|close|>")

    @property
    def sep_id(self) -> int:
        return self.special("<|sep|>")

    @property
    def end_of_msg_id(self) -> int:
        return self.special("<|end_of_msg|>")

    @property
    def media_begin_id(self) -> int:
        return self.special("<|media_begin|>")

    @property
    def media_content_id(self) -> int:
        return self.special("<|media_content|>")

    @property
    def media_end_id(self) -> int:
        return self.special("<|media_end|>")

    @property
    def media_pad_id(self) -> int:
        return self.special("<|media_pad|>")

    def encode(self, text: str, *, special: bool = False) -> list[int]:
        """Ids of one segment; nothing is added at either end.

        Args:
            text: the segment's text; a lone surrogate becomes U+FFFD.
            special: whether spellings of special tokens become their ids. Never set it for text that comes
                from outside.
        """
        if special and text in self.specials:
            return [self.specials[text]]
        ids: list[int] = []
        for piece in cuts(text):
            if special:
                ids += self.encoding.encode(piece, allowed_special="all", disallowed_special=())
            else:
                ids += self.encoding.encode_ordinary(piece)
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """Text of ids; special tokens give their spelling, incomplete characters U+FFFD."""
        return b"".join(map(self.token_bytes, ids)).decode("utf-8", "replace")

    def token_bytes(self, token: int) -> bytes:
        """Bytes of one token; a special token gives its spelling.

        Raises:
            ConfigError: the id lies outside the vocabulary.
        """
        if not 0 <= token < self.vocab_size:
            raise ConfigError(f"Token id {token} lies outside the vocabulary of {self.vocab_size}.")
        return self._bytes[token]

    def decoder(self) -> IncrementalDecoder:
        """A fresh decoder for one stream of ids."""
        return IncrementalDecoder(self)


def _family_of(names: Mapping[int, str] | None) -> Family:
    own = set((names or {}).values())
    return "k2" if set(_REQUIRED["k2"]) <= own and not set(_REQUIRED["k3"]) <= own else "k3"


def cuts(text: str) -> Iterator[str]:
    """The pieces that are encoded on their own: at most 400,000 characters, no class run over 25,000."""
    for start in range(0, len(text), PIECE):
        piece = text[start : start + PIECE]
        if len(piece) <= RUN:
            yield piece
            continue
        begin = 0
        for run in _RUNS.finditer(piece):
            for cut in range(run.start() + RUN, run.end(), RUN):
                yield piece[begin:cut]
                begin = cut
        yield piece[begin:]


def _by_rank(ranks: Mapping[bytes, int]) -> list[bytes]:
    by_rank: list[bytes | None] = [None] * len(ranks)
    for token, rank in ranks.items():
        if not 0 <= rank < len(ranks) or by_rank[rank] is not None:
            raise LoadError(
                f"rank {rank} is given twice or leaves a hole: {len(ranks)} tokens need 0..{len(ranks) - 1}."
            )
        by_rank[rank] = token
    missing = [value for value in range(256) if bytes((value,)) not in ranks]
    if missing:
        raise LoadError(f"byte 0x{missing[0]:02x} has no token; a byte-level vocabulary needs all 256.")
    return [token for token in by_rank if token is not None]


def _read_bounded(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise LoadError(f"{file} is not a regular file.")
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise LoadError(f"Cannot read {file}: {error.strerror or error}.") from error
    if len(data) > LARGEST_FILE:
        raise LoadError(f"{file} is larger than {LARGEST_FILE} bytes; that is no tokenizer file.")
    return data


def _read_ranks(file: Path) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(_read_bounded(file).splitlines(), start=1):
        if not line:
            continue
        try:
            spelled, rank = line.split()
            token = base64.b64decode(spelled, validate=True)
            value = int(rank)
        except (ValueError, binascii.Error):
            raise LoadError(f"{file}, line {number}: expected 'base64 rank', got {line[:60]!r}.") from None
        if not token or token in ranks:
            raise LoadError(f"{file}, line {number}: the token is empty or given before: {spelled[:60]!r}.")
        ranks[token] = value
    return ranks


def _read_config(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    try:
        settings = json.loads(_read_bounded(file))
    except (ValueError, RecursionError) as error:
        raise LoadError(f"{file} is not JSON: {error}.") from error
    if not isinstance(settings, dict):
        raise LoadError(f"{file} must hold a JSON object, not {type(settings).__name__}.")
    return settings


def _slots_of(settings: Mapping[str, Any], base: int, file: Path) -> tuple[int, dict[int, str] | None]:
    added = settings.get("added_tokens_decoder")
    names: dict[int, str] | None = None
    if added is not None:
        try:
            names = {int(number): str(entry["content"]) for number, entry in added.items()}
        except (AttributeError, KeyError, TypeError, ValueError):
            raise LoadError(f"{file}: added_tokens_decoder must map ids to objects with 'content'.") from None
    slots = settings.get("special_slots", DEFAULT_SLOTS)
    if not isinstance(slots, int) or isinstance(slots, bool) or not 0 < slots <= 1 << 20:
        raise LoadError(f"{file}: special_slots must be a positive number of ids, not {slots!r}.")
    return slots, names
