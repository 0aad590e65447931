"""Safetensors files as files: which bytes of a folder are which tensor, and how such files are written.

Knows headers, the index and memory maps, and reads no tensor unasked; leaves names, kinds and values to
``checkpoint``. Works without PyTorch.
"""

from __future__ import annotations

import gc
import json
import mmap
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from kimi_sdk.errors import LoadError

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
ITEM_BYTES: Mapping[str, int] = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 1),
    **dict.fromkeys(("BF16", "F16", "I16", "U16"), 2),
    **dict.fromkeys(("F32", "I32", "U32"), 4),
    **dict.fromkeys(("F64", "I64", "U64"), 8),
}
"""Bytes of one element, by the header's name of its dtype."""
_MAX_INDEX_BYTES = 256 * 2**20
_MAX_HEADER_BYTES = 100_000_000


class Located(NamedTuple):
    """One tensor of a file; ``start`` and ``stop`` are bytes of the file."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


class Described(NamedTuple):
    """A tensor to be written."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """Its size on disk."""
        return prod(self.shape) * ITEM_BYTES[self.dtype]


@dataclass(frozen=True, slots=True)
class Header:
    """Tensors of a file in their order; ``whole`` is false for a file that ends with its header."""

    tensors: dict[str, Located]
    whole: bool


@dataclass(frozen=True, slots=True)
class Shards:
    """The files of one checkpoint: headers by file name, file name by tensor, and listed files not here."""

    root: Path
    headers: dict[str, Header]
    where: dict[str, str]
    absent: tuple[str, ...] = ()

    def located(self, name: str) -> Located:
        """Where in its file a tensor lies."""
        return self.headers[self.where[name]].tensors[name]

    def path(self, name: str) -> Path:
        """The file that holds a tensor."""
        return self.root / self.where[name]


def open_shards(root: Path, *, partial: bool = False) -> Shards:
    """Reads the headers of a folder's weights; of ``model.safetensors`` where there is no index.

    Args:
        root: the folder.
        partial: takes what is there: files that are absent, or end with their headers, are no error.

    Raises:
        LoadError: a file is missing, cut or damaged; index and files contradict each other; a tensor is
            there twice.
    """
    mapping = _read_index(root / INDEX) if (root / INDEX).exists() else None
    if mapping is not None:
        files = sorted(set(mapping.values()))
    else:
        files = sorted(path.name for path in root.glob("*.safetensors")) if partial else [SINGLE]
    absent = tuple(file for file in files if partial and not (root / file).exists())
    headers: dict[str, Header] = {}
    where: dict[str, str] = {}
    for file in files:
        if file in absent:
            continue
        header = read_header(root / file)
        if not header.whole and not partial:
            name = next(iter(header.tensors))
            raise LoadError(
                f"{root / file}: is not a readable safetensors file (it ends with its header, before {name})"
            )
        for name in header.tensors:
            if name in where:
                raise LoadError(f"{root / file}: {name} is also in {where[name]}")
        headers[file] = header
        where.update(dict.fromkeys(header.tensors, file))
    if mapping is not None:
        _check_index(root / INDEX, mapping, where, absent)
    return Shards(root, headers, where, absent)


def read_header(path: Path) -> Header:
    """The header of one safetensors file: its length in 8 bytes, then JSON, then the tensors without gaps.

    Raises:
        LoadError: the file is missing, or is not such a file; a tensor of it overlaps another one, is cut
            off, named twice, or not of the size that its shape and dtype need.
    """
    try:
        with path.open("rb") as file:
            length = os.fstat(file.fileno()).st_size
            size = int.from_bytes(file.read(8), "little")
            if size > min(length - 8, _MAX_HEADER_BYTES):
                raise ValueError(f"its header claims {size:,} bytes")
            raw = json.loads(file.read(size), object_pairs_hook=_once)
        if not isinstance(raw, dict):
            raise ValueError(f"its header is {type(raw).__name__}, an object is wanted")
        raw.pop("__metadata__", None)
        found = [(name, _located(name, entry, 8 + size)) for name, entry in raw.items()]
        tensors = dict(sorted(found, key=_start))
        return Header(tensors, _ends(tensors, 8 + size, length))
    except FileNotFoundError:
        raise LoadError(f"{path}: no such file") from None
    except OSError as error:
        raise LoadError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise LoadError(f"{path}: is not a readable safetensors file ({error})") from None


def _parse(text: bytes, mark: bytes) -> Any:
    """JSON in which no key of one object is there twice; ``mark`` is in the text once for every tensor."""
    raw = json.loads(text)
    body = raw.get("weight_map", raw) if isinstance(raw, dict) else raw
    tensors = len(body) - ("__metadata__" in body) if isinstance(body, dict) else 0
    # A parser keeps the last of two equal keys. Looking at every object takes long: only if the count is off.
    return raw if text.count(mark) == tensors else json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)} is there twice")
    return found


def _located(name: str, entry: Any, base: int) -> Located:
    try:
        dtype, shape, (start, stop) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"its header does not say where {name} lies and of which shape it is") from None
    try:
        size = _size(dtype, shape)
        sound = 0 <= start <= stop and (size is None or size == stop - start)
    except (TypeError, ValueError):
        raise ValueError(f"its header does not say where {name} lies and of which shape it is") from None
    if not sound or type(start) is not int or type(stop) is not int:
        raise ValueError(f"{name} is {dtype} {list(shape)} and lies at {start!r} to {stop!r}")
    return Located(dtype, shape, base + start, base + stop)


@lru_cache(maxsize=4096)
def _size(dtype: Any, shape: tuple[Any, ...]) -> int | None:
    """Bytes of a tensor, None where the dtype is unknown; shapes repeat, so that few are checked."""
    if type(dtype) is not str or any(type(number) is not int or number < 0 for number in shape):
        raise ValueError("is no dtype or shape")
    item = ITEM_BYTES.get(dtype)
    return None if item is None else prod(shape) * item


def _start(item: tuple[str, Located]) -> tuple[int, int]:
    return item[1][2:]


def _ends(tensors: Mapping[str, Located], start: int, length: int) -> bool:
    """Whether a file of this length holds these tensors; refuses gaps, overlaps and half a tensor."""
    at = start
    for name, place in tensors.items():
        if place.start != at:
            raise ValueError(f"{name} lies at byte {place.start:,}, the tensor before it ends at {at:,}")
        at = place.stop
    if at == length or (length == start and tensors):
        return at == length
    if at < length:
        raise ValueError(f"its tensors end at byte {at:,}, the file at {length:,}")
    cut = next(name for name, place in tensors.items() if place.stop > length)
    raise ValueError(f"it ends at byte {length:,}, within or before {cut}, and should have {at:,} bytes")


def _read_index(path: Path) -> dict[str, str]:
    try:
        if path.stat().st_size > _MAX_INDEX_BYTES:
            raise LoadError(f"{path}: is larger than {_MAX_INDEX_BYTES} bytes")
        mapping = _parse(path.read_bytes(), b'.safetensors"')["weight_map"]
    except OSError as error:
        raise LoadError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = f": {error}" if "twice" in str(error) else ""
        raise LoadError(f"{path}: is not a JSON object with a weight_map{reason}") from None
    if not isinstance(mapping, dict) or not mapping:
        raise LoadError(f"{path}: weight_map names no tensor")
    sound: set[str] = set()
    for name, file in mapping.items():
        if not isinstance(file, str) or file not in sound:
            if not isinstance(file, str) or Path(file).name != file or not file.endswith(".safetensors"):
                raise LoadError(f"{path}: {name} lies in {file!r}, a file name of this folder is wanted")
            sound.add(file)
    return mapping


def _check_index(
    path: Path, mapping: Mapping[str, str], where: Mapping[str, str], absent: tuple[str, ...]
) -> None:
    """Index and headers must say the same about every tensor of the files that are here."""
    listed = {name: file for name, file in mapping.items() if file not in absent} if absent else mapping
    if listed == where:
        return
    name = min(name for name, _ in listed.items() ^ where.items())
    said, held = listed.get(name), where.get(name)
    reason = f"{said} does not hold it" if held is None else f"it lies in {held}, the index says {said}"
    raise LoadError(f"{path}: does not match its shards at {name}: {reason}")


def map_file(path: Path) -> mmap.mmap:
    """A private map of a file: only bytes that are touched are read, and no memory is set aside for it.

    Raises:
        LoadError: the file cannot be opened.
    """
    try:
        with path.open("rb") as file:
            if sys.platform == "win32":
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0)
            # Writable, so that PyTorch takes it as memory; nobody writes, and the file would not change.
            return mmap.mmap(file.fileno(), 0, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    except (OSError, ValueError) as error:
        raise LoadError(f"{path}: cannot be read ({error})") from None


@contextmanager
def many_objects() -> Iterator[None]:
    """Holds back the search for reference cycles while half a million small objects arise: it would double
    the time, and there are none."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def header_of(tensors: Mapping[str, Described]) -> tuple[bytes, list[str]]:
    """The first bytes of a file, and its tensors in order: wide elements first, then by name."""
    order = sorted(tensors, key=lambda name: (-ITEM_BYTES[tensors[name].dtype], name))
    raw: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name in order:
        described = tensors[name]
        end = at + described.bytes
        raw[name] = {"dtype": described.dtype, "shape": list(described.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(raw, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text, order


def write_shard(
    path: Path, tensors: Mapping[str, Described], content: Callable[[str], Iterable[Any]]
) -> None:
    """Writes one file, tensor by tensor.

    Args:
        path: replaced if it exists.
        tensors: what the file holds.
        content: the bytes of a tensor by its name, in any number of buffers.
    """
    head, order = header_of(tensors)
    with path.open("wb") as file:
        file.write(head)
        for name in order:
            begin = file.tell()
            for buffer in content(name):
                file.write(buffer)
            assert file.tell() - begin == tensors[name].bytes, f"{name} is not of its size"


def numbered(count: int) -> list[str]:
    """File names of a checkpoint in so many files."""
    if count == 1:
        return [SINGLE]
    return [f"model-{number:05d}-of-{count:06d}.safetensors" for number in range(1, count + 1)]


def index_text(files: Mapping[str, str], total: int) -> str:
    """The index of a checkpoint in several files: tensor -> file name, and bytes of all tensors."""
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(files.items()))}
    return json.dumps(index, indent=2) + "\n"


def config_text(raw: Mapping[str, Any]) -> str:
    """A ``config.json`` as it is written."""
    return json.dumps(raw, indent=2, ensure_ascii=False) + "\n"


def write_folder(
    root: Path,
    groups: list[dict[str, Described]],
    content: Callable[[str], Iterable[Any]],
) -> int:
    """Writes a checkpoint's weights, a file a group, and its index; earlier weights of the folder go.

    Nothing is replaced before everything is written.

    Returns:
        bytes of all tensors.
    """
    names = numbered(len(groups))
    for name, group in zip(names, groups, strict=True):
        write_shard(root / f"{name}.partial", group, content)
    for old in [*root.glob("model-*-of-*.safetensors"), root / INDEX, root / SINGLE]:
        old.unlink(missing_ok=True)
    for name in names:
        (root / f"{name}.partial").replace(root / name)
    total = sum(described.bytes for group in groups for described in group.values())
    if len(groups) > 1:
        files = {tensor: name for name, group in zip(names, groups, strict=True) for tensor in group}
        (root / INDEX).write_text(index_text(files, total), "utf-8")
    return total


def split(tensors: Mapping[str, Described], most: int) -> list[dict[str, Described]]:
    """Cuts a list of tensors into groups of at most so many bytes; a larger tensor is alone."""
    groups: list[dict[str, Described]] = [{}]
    size = 0
    for name, described in tensors.items():
        if groups[-1] and size + described.bytes > most:
            groups.append({})
            size = 0
        groups[-1][name] = described
        size += described.bytes
    return groups
