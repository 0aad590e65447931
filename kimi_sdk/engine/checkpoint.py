"""Model checkpoints on disk: ``config.json`` and safetensors files, under the public K3 tensor names.

Knows how files become a model and back, with every tensor accounted for; leaves the list of tensors to
``manifest``. Nothing is ever unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.kda import KDA
from kimi_sdk.engine.manifest import DISK_DTYPES, Entry, Progress, expert_view, manifest, pinned_names
from kimi_sdk.engine.moe import Experts
from kimi_sdk.engine.mxfp4 import dequantize, quantize
from kimi_sdk.errors import LoadError

_SINGLE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_MAX_INDEX_BYTES = 256 * 2**20
_DTYPES = {"BF16": torch.bfloat16, "F32": torch.float32, "F16": torch.float16, "U8": torch.uint8}


def load(
    folder: str | Path,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype | str = "auto",
    progress: Progress | None = None,
) -> K3:
    """Reads a model and lays it out for inference.

    Args:
        folder: holds ``config.json`` and ``model.safetensors``, or an index with its shards.
        device: where the weights go.
        dtype: what to compute in; ``"auto"`` is fp32 on a CPU and bf16 elsewhere. Tensors that the files keep
            in fp32 stay so.
        progress: called with bytes read and bytes in all.

    Raises:
        LoadError: a file is missing or damaged, or a tensor is missing, unknown, or of a wrong shape, dtype
            or content; the message names them.
    """
    root = Path(folder)
    if not root.is_dir():
        raise LoadError(f"{root}: no such folder; a model checkpoint is a folder with config.json")
    config = K3Config.load(root)
    place = _available(device)
    compute = _compute_dtype(dtype, place)
    with _Shards(root) as shards:
        _check_layers(config, shards)
        with in_memory():
            model = K3(config, seed=None)  # empty, so that memory is touched only when it is filled
        entries = manifest(model)
        _account(entries, shards)
        with in_memory():
            _materialise(model, place, compute)
        _fill(model, entries, shards, progress)
    _check_finite(model)
    return model.fuse()


def save(model: K3, folder: str | Path, *, max_shard_bytes: int = 16 * 2**20) -> None:
    """Writes ``config.json`` and the tensors; ``load`` of the result gives the same model, byte for byte.

    Args:
        model: fused or not. Experts of a quantized config are packed; bytes that were loaded and still stand
            for the weights are written as they were.
        folder: created if missing; files of the same names are replaced.
        max_shard_bytes: a new shard begins before one would grow beyond this.
    """
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    modules = dict(model.named_modules())
    shards: list[dict[str, Tensor]] = [{}]
    size = total = 0
    for name, entry in manifest(model).items():
        tensor = _stored(modules, entry)
        if shards[-1] and size + tensor.nbytes > max_shard_bytes:
            shards.append({})
            size = 0
        shards[-1][name] = tensor
        size += tensor.nbytes
        total += tensor.nbytes
    for old in [*root.glob("model-*-of-*.safetensors"), root / _INDEX, root / _SINGLE]:
        old.unlink(missing_ok=True)
    text = json.dumps(model.config.to_dict(), indent=2, ensure_ascii=False) + "\n"
    (root / "config.json").write_text(text, "utf-8")
    if len(shards) == 1:
        save_file(shards[0], root / _SINGLE, metadata={"format": "pt"})
        return
    files: dict[str, str] = {}
    for number, shard in enumerate(shards, 1):
        file = f"model-{number:05d}-of-{len(shards):06d}.safetensors"
        save_file(shard, root / file, metadata={"format": "pt"})
        files.update(dict.fromkeys(shard, file))
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(files.items()))}
    (root / _INDEX).write_text(json.dumps(index, indent=2) + "\n", "utf-8")


class _Shards:
    """The safetensors files of a folder, opened, and which tensor lies in which."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, Any] = {}
        self.where: dict[str, str] = {}

    def __enter__(self) -> _Shards:
        mapping = self._index() if (self.root / _INDEX).exists() else None
        for file in [_SINGLE] if mapping is None else sorted(set(mapping.values())):
            self._open(file)
        if mapping is not None and mapping != self.where:
            wrong = sorted(dict(mapping.items() ^ self.where.items()))
            raise LoadError(f"{self.root / _INDEX}: does not match its shards at {_some(wrong)}")
        return self

    def __exit__(self, *_: object) -> None:
        self.files.clear()

    def _index(self) -> dict[str, str]:
        path = self.root / _INDEX
        try:
            if path.stat().st_size > _MAX_INDEX_BYTES:
                raise LoadError(f"{path}: is larger than {_MAX_INDEX_BYTES} bytes")
            mapping = json.loads(path.read_text("utf-8"))["weight_map"]
        except OSError as error:
            raise LoadError(f"{path}: cannot be read ({error.strerror})") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise LoadError(f"{path}: is not a JSON object with a weight_map") from None
        if not isinstance(mapping, dict) or not mapping:
            raise LoadError(f"{path}: weight_map names no tensor")
        for name, file in mapping.items():
            if not isinstance(file, str) or Path(file).name != file or not file.endswith(".safetensors"):
                raise LoadError(f"{path}: {name} lies in {file!r}, a file name of this folder is wanted")
        return mapping

    def _open(self, file: str) -> None:
        path = self.root / file
        with _reading(path):
            opened = safe_open(path, framework="pt")
        self.files[file] = opened
        names: list[str] = opened.keys()  # type: ignore[no-untyped-call]
        for name in names:
            if name in self.where:
                raise LoadError(f"{path}: {name} is also in {self.where[name]}")
            self.where[name] = file

    def described(self, name: str) -> tuple[tuple[int, ...], torch.dtype | str]:
        """Shape and dtype as the header says."""
        part = self.files[self.where[name]].get_slice(name)
        dtype = part.get_dtype()
        return tuple(part.get_shape()), _DTYPES.get(dtype, dtype)

    def read(self, name: str) -> Tensor:
        """The tensor on the CPU."""
        with _reading(self.root / self.where[name]):
            tensor: Tensor = self.files[self.where[name]].get_tensor(name)
        return tensor


def _check_layers(config: K3Config, shards: _Shards) -> None:
    """Refuses a number of layers that is a mere claim, before a model is built for it."""
    layers = config.text.layers + (config.vision.vt_num_hidden_layers if config.vision else 0)
    if layers > len(shards.where):
        raise LoadError(
            f"{shards.root}: config.json names {layers:,} layers, and the files hold only "
            f"{len(shards.where):,} tensors"
        )


@contextmanager
def in_memory() -> Iterator[None]:
    """Makes what PyTorch raises where memory ends, or where a size is beyond it, a ``LoadError``."""
    try:
        yield
    except (RuntimeError, MemoryError, OverflowError) as error:  # PyTorch has no class of its own for it
        reason = str(error).strip().partition("\n")[0]
        raise LoadError(f"the model of this config.json does not fit into memory ({reason})") from error


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise LoadError(f"{path}: no such file") from None
    except (SafetensorError, OSError) as error:
        raise LoadError(f"{path}: is not a readable safetensors file ({error})") from None


def _account(entries: Mapping[str, Entry], shards: _Shards) -> None:
    """Compares what the files hold with what the config asks for.

    Raises:
        LoadError: naming the first few missing, unknown and wrong tensors, and how many there are of each.
    """
    missing = [name for name in entries if name not in shards.where]
    unknown = [name for name in sorted(shards.where) if name not in entries]
    wrong = []
    for name, entry in entries.items():
        if name in shards.where:
            shape, dtype = shards.described(name)
            if not _fits(name, entry, shape):
                wrong.append(f"{name} (shape {list(shape)}, {list(entry.shape)} is wanted)")
            elif dtype != entry.dtype:
                wrong.append(f"{name} ({dtype}, {entry.dtype} is wanted)")
    problems = [
        f"{len(names)} {kind}: {_some(names)}"
        for kind, names in (("missing", missing), ("unknown", unknown), ("wrong", wrong))
        if names
    ]
    if problems:
        raise LoadError(f"{shards.root}: the tensors do not fit config.json; " + "; ".join(problems))


def _fits(name: str, entry: Entry, shape: tuple[int, ...]) -> bool:
    """Equal shapes; A_log may be any flat vector at least as long as the heads (checked when filled)."""
    return shape == entry.shape or (name.endswith(".A_log") and len(shape) in (1, 4))


def _some(names: list[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _compute_dtype(dtype: torch.dtype | str, device: torch.device) -> torch.dtype:
    if dtype == "auto":
        return torch.float32 if device.type == "cpu" else torch.bfloat16
    found = DISK_DTYPES.get(dtype) if isinstance(dtype, str) else dtype
    if found is None or found not in DISK_DTYPES.values():
        raise LoadError(f"dtype {dtype!r} is unknown; use 'auto' or one of {', '.join(DISK_DTYPES)}")
    return found


def _available(device: torch.device | str) -> torch.device:
    place, count = torch.device(device), torch.cuda.device_count()
    index = place.index or 0  # PyTorch keeps it in a byte, so 200 comes out negative
    if place.type == "cuda" and not 0 <= index < count:
        raise LoadError(f"there is no device {device}: this PyTorch finds {count} CUDA devices")
    return place


def _materialise(model: K3, device: torch.device, dtype: torch.dtype) -> None:
    """Gives every parameter storage of its final place and dtype; pinned ones keep fp32."""
    pinned = pinned_names(model)
    for name, parameter in list(model.named_parameters()):
        owner, _, last = name.rpartition(".")
        kind = torch.float32 if name in pinned else dtype
        if parameter.dtype == kind and parameter.device == device:
            parameter.requires_grad_(False)
        else:
            empty = torch.empty(parameter.shape, dtype=kind, device=device)
            setattr(model.get_submodule(owner), last, nn.Parameter(empty, requires_grad=False))


def _fill(model: K3, entries: Mapping[str, Entry], shards: _Shards, progress: Progress | None) -> None:
    modules = dict(model.named_modules())
    total = sum(_bytes(entry) for entry in entries.values())
    done = 0
    waiting: dict[tuple[str, int | None, str], dict[str, Tensor]] = {}
    for name, entry in entries.items():
        owner, _, last = entry.parameter.rpartition(".")
        module, tensor = modules[owner], shards.read(name)
        if isinstance(module, Experts) and entry.expert is not None:
            if entry.part:
                parts = waiting.setdefault((entry.parameter, entry.expert, entry.matrix), {})
                parts[entry.part] = tensor
                if len(parts) == 2:
                    _unpack(module, entry, parts["packed"], parts["scale"], name)
            else:
                expert_view(module, entry.expert, entry.matrix).copy_(tensor)
        elif last == "A_log":
            _set_rates(module, tensor, name)
        else:
            getattr(module, last).data.copy_(tensor)
        done += _bytes(entry)
        if progress is not None:
            progress(done, total)


def _unpack(stack: Experts, entry: Entry, packed: Tensor, scale: Tensor, name: str) -> None:
    assert entry.expert is not None, "only experts are packed"
    try:
        values = dequantize(packed, scale)
    except ValueError as error:
        raise LoadError(f"{name}: {error}") from None
    expert_view(stack, entry.expert, entry.matrix).copy_(values)
    stack.packed[f"{entry.expert}.{entry.matrix}"] = (packed.clone(), scale.clone())


def _set_rates(layer: nn.Module, tensor: Tensor, name: str) -> None:
    """A_log as stored: longer than the heads, with a tail of zeros that nothing may read."""
    assert isinstance(layer, KDA), "only KDA has rates"
    flat = tensor.flatten()
    if flat.numel() < layer.heads:
        raise LoadError(f"{name}: has {flat.numel()} values for {layer.heads} heads")
    if bool(flat[layer.heads :].any()):
        raise LoadError(f"{name}: values beyond the {layer.heads} heads are not zero")
    layer.A_log = nn.Parameter(tensor.to(layer.A_log.device, torch.float32).clone(), requires_grad=False)


def _check_finite(model: K3) -> None:
    """A single non-finite number would poison every sequence: refuse it here, by name."""
    broken = [name for name, value in model.named_parameters() if not bool(torch.isfinite(value).all())]
    if broken:
        raise LoadError(f"{len(broken)} tensors hold NaN or infinity: {_some(broken)}")


def _bytes(entry: Entry) -> int:
    count = 1
    for size in entry.shape:
        count *= size
    return count * entry.dtype.itemsize


def _stored(modules: Mapping[str, nn.Module], entry: Entry) -> Tensor:
    """One tensor as the files hold it."""
    owner, _, last = entry.parameter.rpartition(".")
    module = modules[owner]
    if not isinstance(module, Experts) or entry.expert is None:
        value: Tensor = getattr(module, last)
        return value.detach().cpu().to(entry.dtype).contiguous().clone()
    weight = expert_view(module, entry.expert, entry.matrix).detach().cpu().float()
    if not entry.part:
        return weight.to(entry.dtype).contiguous().clone()
    key = f"{entry.expert}.{entry.matrix}"
    kept = module.packed.get(key)
    if kept is None or not torch.equal(dequantize(*kept), weight):
        module.packed[key] = kept = quantize(weight)
    return kept[entry.part == "scale"].contiguous()
