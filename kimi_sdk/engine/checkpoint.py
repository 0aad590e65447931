"""Model checkpoints on disk: ``config.json`` and safetensors files, under the public K3 tensor names.

Knows how files become a model and back, with every tensor accounted for; leaves the list of tensors to
``manifest`` and bytes of files to ``shards``. Nothing is ever unpickled.

Routed experts in MXFP4 take one of two forms in memory. Where all of them, unpacked, fit into
``UNPACKED_BYTES``, they are unpacked once, which computes fastest. Otherwise they keep their bytes, and each
product unpacks the experts that it uses. Both forms give the same values and save the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from mmap import mmap
from pathlib import Path
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.k3 import K3
from kimi_sdk.engine.kda import KDA
from kimi_sdk.engine.manifest import (
    DISK_DTYPES,
    Entry,
    Progress,
    blueprint,
    expert_view,
    manifest,
    pinned_names,
)
from kimi_sdk.engine.moe import Experts
from kimi_sdk.engine.mxfp4 import has_nan, quantize, unpack
from kimi_sdk.engine.shards import (
    Described,
    Located,
    Shards,
    config_text,
    many_objects,
    map_file,
    open_shards,
    split,
    write_folder,
)
from kimi_sdk.errors import LoadError

UNPACKED_BYTES = 2 * 2**30
"""Most memory that unpacked MXFP4 experts may take; larger models keep them packed."""
_DTYPES = {"BF16": torch.bfloat16, "F32": torch.float32, "F16": torch.float16, "U8": torch.uint8}
_SPELLED = {dtype: name for name, dtype in _DTYPES.items()}


class Step(NamedTuple):
    """One tensor on its way: name on disk, what it fills, and where it lies."""

    name: str
    entry: Entry
    place: Located


@dataclass(frozen=True, slots=True)
class Plan:
    """How a folder becomes a model: known from the config and the headers alone.

    Attributes:
        root: the folder.
        model: the model without storage.
        steps: every tensor of every file, files by name, tensors by place.
        shards: the files.
    """

    root: Path
    model: K3
    steps: list[Step]
    shards: Shards

    @property
    def bytes(self) -> int:
        """Bytes that loading reads: all tensors, and nothing else."""
        return sum(step.place.stop - step.place.start for step in self.steps)


def plan(folder: str | Path) -> Plan:
    """Reads ``config.json``, the index and the headers, and accounts for every tensor; reads no weights.

    Raises:
        LoadError: a file is missing or damaged, or a tensor is missing, unknown, or of a wrong shape or
            dtype; the message names them.
    """
    root = Path(folder)
    if not root.is_dir():
        raise LoadError(f"{root}: no such folder; a model checkpoint is a folder with config.json")
    config = K3Config.load(root)
    with many_objects():
        shards = open_shards(root)
        _check_layers(config, shards)
        with in_memory():
            model = blueprint(config)
        entries = manifest(model)
        if not config.nested:
            model.stored_as = _other_dtypes(entries, shards, DISK_DTYPES[config.text.dtype])
            entries = manifest(model)
        _account(entries, shards)
        steps = [
            Step(name, entries[name], place)
            for _, header in sorted(shards.headers.items())
            for name, place in header.tensors.items()
        ]
    return Plan(root, model, steps, shards)


def load(
    folder: str | Path,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype | str = "auto",
    experts: Literal["auto", "packed", "unpacked"] = "auto",
    progress: Progress | None = None,
) -> K3:
    """Reads a model and lays it out for inference.

    Args:
        folder: holds ``config.json`` and ``model.safetensors``, or an index with its shards.
        device: where the weights go.
        dtype: what to compute in; ``"auto"`` is fp32 on a CPU and bf16 elsewhere. Tensors that the files keep
            in fp32 stay so.
        experts: the form of MXFP4 experts in memory; ``"auto"`` unpacks them up to ``UNPACKED_BYTES``.
        progress: called with bytes read and bytes in all.

    Raises:
        LoadError: a file is missing or damaged, or a tensor is missing, unknown, or of a wrong shape, dtype
            or content; the message names them.
    """
    place = _available(device)
    compute = _compute_dtype(dtype, place)
    planned = plan(folder)
    model = planned.model
    with in_memory():
        if experts == "packed" or (experts == "auto" and _unpacked_bytes(model, compute) > UNPACKED_BYTES):
            for stack in _quantized(model):
                stack.keep_packed(place)
        _materialise(model, place, compute)
    _fill(planned, progress)
    if compute == torch.float16:
        _check_finite(model)  # its range is narrower than the files'
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
    entries = manifest(model)
    described = {name: Described(_SPELLED[entry.dtype], entry.shape) for name, entry in entries.items()}

    def content(name: str) -> list[memoryview]:
        return [_raw(_stored(modules, entries[name]))]

    write_folder(root, split(described, max_shard_bytes), content)
    (root / "config.json").write_text(config_text(model.config.to_dict()), "utf-8")


def _check_layers(config: K3Config, shards: Shards) -> None:
    """Refuses a number of layers that is a mere claim, before a model is built for it."""
    layers = config.text.layers + (config.vision.vt_num_hidden_layers if config.vision else 0)
    if layers > len(shards.where):
        raise LoadError(
            f"{shards.root}: config.json names {layers:,} layers, and the files hold only "
            f"{len(shards.where):,} tensors"
        )


@contextmanager
def in_memory() -> Iterator[None]:
    """Where memory ends, or where a size is beyond it, a ``LoadError``."""
    try:
        yield
    except (RuntimeError, MemoryError, OverflowError) as error:  # PyTorch has no class of its own for it
        reason = str(error).strip().partition("\n")[0]
        raise LoadError(f"the model of this config.json does not fit into memory ({reason})") from error


def _other_dtypes(entries: Mapping[str, Entry], shards: Shards, disk: torch.dtype) -> dict[str, torch.dtype]:
    """Kimi-Linear's files may hold in the model's dtype what K3 pins to fp32: read and saved as it is."""
    return {
        name: disk
        for name, entry in entries.items()
        if entry.pinned and name in shards.where and _DTYPES.get(shards.located(name).dtype) == disk
    }


def _account(entries: Mapping[str, Entry], shards: Shards) -> None:
    """Compares what the files hold with what the config asks for.

    Raises:
        LoadError: naming the first few missing, unknown and wrong tensors, and how many there are of each.
    """
    missing = [name for name in entries if name not in shards.where]
    unknown = [f"{name} in {file}" for name, file in sorted(shards.where.items()) if name not in entries]
    wrong = []
    for name, entry in entries.items():
        if name not in shards.where:
            continue
        place = shards.located(name)
        dtype = _DTYPES.get(place.dtype, place.dtype)
        if place.shape == entry.shape and dtype is entry.dtype:
            continue
        if not _fits(name, entry, place.shape):
            difference = f"shape {list(place.shape)}, {list(entry.shape)} is wanted"
        elif dtype != entry.dtype:
            difference = f"{dtype}, {entry.dtype} is wanted"
        else:
            continue
        wrong.append(f"{name} ({difference}) in {shards.where[name]}")
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


def _quantized(model: K3) -> list[Experts]:
    return [part for part in model.modules() if isinstance(part, Experts) and part.quantized]


def _unpacked_bytes(model: K3, compute: torch.dtype) -> int:
    return sum(3 * part.count * part.latent * part.width for part in _quantized(model)) * compute.itemsize


def _materialise(model: K3, device: torch.device, dtype: torch.dtype) -> None:
    """Gives every parameter storage of its final place and dtype; pinned ones keep fp32."""
    pinned = pinned_names(model)
    for name, parameter in list(model.named_parameters()):
        owner, _, last = name.rpartition(".")
        kind = torch.float32 if name in pinned else dtype
        empty = torch.empty(parameter.shape, dtype=kind, device=device)
        setattr(model.get_submodule(owner), last, nn.Parameter(empty, requires_grad=False))


def _fill(planned: Plan, progress: Progress | None) -> None:
    """Places every tensor, file by file; no more than one file is mapped at a time."""
    modules = dict(planned.model.named_modules())
    waiting: dict[tuple[str, int | None, str], dict[str, Tensor]] = {}
    done, total = 0, planned.bytes
    shards = planned.shards
    for file, steps in groupby(planned.steps, key=lambda step: shards.where[step.name]):
        path = planned.root / file
        mapped = map_file(path)
        for step in steps:
            entry = step.entry
            owner, _, last = entry.parameter.rpartition(".")
            module, tensor = modules[owner], _tensor(mapped, step)
            _check_values(tensor, step, path)
            if isinstance(module, Experts) and entry.expert is not None:
                _place_expert(module, entry, tensor, waiting)
            elif last == "A_log":
                _set_rates(module, tensor, f"{path}: {step.name}")
            else:
                getattr(module, last).data.copy_(tensor)
            done += step.place.stop - step.place.start
            if progress is not None:
                progress(done, total)


def _tensor(mapped: mmap, step: Step) -> Tensor:
    """A tensor over the mapped file itself; bytes are read when they are used."""
    start, stop = step.place.start, step.place.stop
    dtype = _DTYPES[step.place.dtype]
    if start == stop:
        return torch.empty(step.place.shape, dtype=dtype)
    raw = torch.frombuffer(mapped, dtype=torch.uint8, count=stop - start, offset=start)
    if start % dtype.itemsize:
        raw = raw.clone()  # a header of odd length
    return raw.view(dtype).view(step.place.shape)


def _check_values(tensor: Tensor, step: Step, path: Path) -> None:
    """A single NaN or infinity would poison every sequence: refuse it here, by name."""
    if tensor.dtype == torch.uint8:
        if step.entry.part == "scale" and has_nan(tensor):
            raise LoadError(f"{path}: {step.name}: an MXFP4 scale is 255 (NaN)")
        return
    # The sum shows most tensors sound without a second one of their size.
    sound = bool(tensor.sum(dtype=torch.float32).isfinite()) or bool(torch.isfinite(tensor).all())
    if not sound:
        raise LoadError(f"{path}: {step.name} holds NaN or infinity")


def _place_expert(
    module: Experts,
    entry: Entry,
    tensor: Tensor,
    waiting: dict[tuple[str, int | None, str], dict[str, Tensor]],
) -> None:
    """One expert's matrix, or half of a packed one, into its stack; halves wait for each other."""
    assert entry.expert is not None, "only experts are stacked"
    if not entry.part or module.store is not None:
        expert_view(module, entry.expert, entry.matrix, entry.part).copy_(tensor)
        return
    parts = waiting.setdefault((entry.parameter, entry.expert, entry.matrix), {})
    parts[entry.part] = tensor.clone()
    if len(parts) < 2:
        return
    packed, scale = parts["packed"], parts["scale"]
    expert_view(module, entry.expert, entry.matrix).copy_(unpack(packed, scale, torch.float32))
    module.packed[f"{entry.expert}.{entry.matrix}"] = (packed, scale)


def _set_rates(layer: nn.Module, tensor: Tensor, where: str) -> None:
    """A_log as stored: longer than the heads, with a tail of zeros that nothing may read."""
    assert isinstance(layer, KDA), "only KDA has rates"
    flat = tensor.flatten()
    if flat.numel() < layer.heads:
        raise LoadError(f"{where}: has {flat.numel()} values for {layer.heads} heads")
    if bool(flat[layer.heads :].any()):
        raise LoadError(f"{where}: values beyond the {layer.heads} heads are not zero")
    value = torch.empty(tensor.shape, dtype=torch.float32, device=layer.A_log.device).copy_(tensor)
    layer.A_log = nn.Parameter(value, requires_grad=False)


def _check_finite(model: K3) -> None:
    broken = [name for name, value in model.named_parameters() if not bool(torch.isfinite(value).all())]
    if broken:
        raise LoadError(f"{len(broken)} tensors do not fit into float16: {_some(broken)}")


def _stored(modules: Mapping[str, nn.Module], entry: Entry) -> Tensor:
    """One tensor as the files hold it."""
    owner, _, last = entry.parameter.rpartition(".")
    module = modules[owner]
    if not isinstance(module, Experts) or entry.expert is None:
        value: Tensor = getattr(module, last)
        return value.detach().cpu().to(entry.dtype)
    if module.store is not None:
        return expert_view(module, entry.expert, entry.matrix, entry.part).cpu()
    weight = expert_view(module, entry.expert, entry.matrix).detach().cpu().float()
    if not entry.part:
        return weight.to(entry.dtype)
    key = f"{entry.expert}.{entry.matrix}"
    kept = module.packed.get(key)
    if kept is None or not torch.equal(unpack(*kept, torch.float32), weight):
        module.packed[key] = kept = quantize(weight)
    return kept[entry.part == "scale"]


def _raw(tensor: Tensor) -> memoryview:
    """A CPU tensor's bytes."""
    return tensor.contiguous().flatten().view(torch.uint8).numpy().data
