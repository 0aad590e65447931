"""Builds what a run trains with: operations checked on this very device, the model, its optimizer and the
step."""

from __future__ import annotations

import argparse
import time

import torch
from torch import Tensor

from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.k3 import K3
from training.attention import AttentionOp, masked_attention, varlen_attention
from training.delta import KdaOp, chosen_configurations, chunk_kda, fla_kda, pin_autotuner
from training.feed import Feed
from training.measure import Log
from training.model import Operations, TrainingModel, initialise, is_quantised, matrix_shape
from training.optim import Optimizer, Rates
from training.parity import LIMIT, attention_errors, check_kda, kda_time, model_errors
from training.quantise import round_mxfp4
from training.rows import Shape
from training.step import Step
from training.store import Progress, load

WIDE = ("conv1d.weight", "A_log", "dt_bias", "o_norm.weight", "e_score_correction_bias")
"""Parameters that the checkpoint keeps in fp32; the model computes with everything else in bf16."""


class SetupError(RuntimeError):
    """An operation is wrong on this device, or a checkpoint does not fit."""


def operations(options: argparse.Namespace, config: K3Config, log: Log) -> Operations:
    """The fast operations, if they agree with the plain ones; on a CPU the plain ones.

    Raises:
        SetupError: fla-core's kernel is wrong here; `--plain-kda` or another `--pin` goes on.
    """
    if options.device != "cuda":
        return Operations()
    kda = chunk_kda if options.plain_kda else _checked_kda(options, config, log)
    attention = masked_attention if options.plain_attention else _checked_attention(options, config, log)
    return Operations(kda, attention, compile=True)


def _checked_kda(options: argparse.Namespace, config: K3Config, log: Log) -> KdaOp:
    def show(text: str) -> None:
        log("parity", text)

    tuners = pin_autotuner(options.pin)
    kda = fla_kda()
    heads, width = config.text.linear.heads, config.text.linear.head_dim
    right = check_kda(kda, heads, width, options.length, "cuda", show)
    if options.smoke:
        for name, op in (("fla-core", kda), ("plain chunks", chunk_kda)):
            took = kda_time(op, options.rows, options.length, heads, width)
            show(f"{name}: {took:.2f} ns a token and head, forward and backward")
        for line in chosen_configurations(tuners):
            show(line)
    if not right and not options.smoke:
        raise SetupError("fla-core's chunk_kda is wrong on this device: try --pin four, or --plain-kda")
    return kda if right else chunk_kda


def _checked_attention(options: argparse.Namespace, config: K3Config, log: Log) -> AttentionOp:
    shape = config.text.attention
    try:
        errors = attention_errors(varlen_attention, 4, options.length, shape.heads, shape.v_dim, "cuda")
    except (RuntimeError, TypeError) as error:
        log("parity", f"varlen attention does not run here, masked attention instead: {error}")
        return masked_attention
    right = max(errors) < LIMIT
    listed = " ".join(f"{error:.1e}" for error in errors)
    log(
        "parity",
        f"varlen attention out, dq, dk, dv: {listed}; {'used' if right else 'WRONG, masked instead'}",
    )
    return varlen_attention if right else masked_attention


def build_model(
    config: K3Config, device: torch.device, dtype: torch.dtype, seed: int, chosen: Operations
) -> TrainingModel:
    """A fresh model with the checkpoint's dtypes (or fp32 throughout for the proof on a CPU)."""
    k3 = K3(config, seed=seed)
    initialise(k3)
    for name, parameter in k3.named_parameters():
        parameter.data = parameter.data.to(device, torch.float32 if name.endswith(WIDE) else dtype)
    return TrainingModel(k3, chosen).to(device)


def build_optimizer(model: TrainingModel, rates: Rates | None = None) -> Optimizer:
    """Muon for the matrices, AdamW for the rest, 4-bit rounding for the experts when it is switched on."""
    named = [(name, value) for name, value in model.k3.named_parameters() if value.requires_grad]
    return Optimizer(named, matrix=matrix_shape, is_quantised=is_quantised, rounding=round_mxfp4, rates=rates)


@torch.no_grad()
def restore(model: TrainingModel, optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    """Sets masters and the untrained parameters from a checkpoint.

    Raises:
        SetupError: a tensor is missing, left over, or of another shape.
    """
    names = {name for name, _ in model.k3.named_parameters()}
    if names != tensors.keys():
        raise SetupError(f"the checkpoint does not fit: {sorted(names ^ tensors.keys())[:5]} ...")
    try:
        optimizer.load_masters(tensors)
    except ValueError as error:
        raise SetupError(f"the checkpoint does not fit: {error}") from None
    for name, parameter in model.k3.named_parameters():
        if not parameter.requires_grad:
            parameter.copy_(tensors[name])


def build(options: argparse.Namespace, shape: Shape, feed: Feed, log: Log) -> tuple[Step, Progress]:
    """Everything for a run, warmed up and captured."""
    start = time.monotonic()
    device = torch.device(options.device)
    cuda = device.type == "cuda"
    log("setup", f"torch {torch.__version__}, {torch.cuda.get_device_name() if cuda else 'CPU'}")
    config = K3Config.load(options.config)
    chosen = operations(options, config, log)
    if cuda:
        torch._dynamo.config.recompile_limit = 64
    dtype = torch.bfloat16 if cuda else torch.float32
    model = build_model(config, device, dtype, options.seed, chosen)
    optimizer = build_optimizer(model, Rates(muon=options.muon, adam=options.adam))
    progress = Progress()
    if options.resume is not None:
        tensors, progress = load(options.resume)
        restore(model, optimizer, {name: value.to(device) for name, value in tensors.items()})
    count = sum(parameter.numel() for parameter in model.k3.parameters())
    log("setup", f"{count / 1e6:.2f}M parameters, {progress} ({time.monotonic() - start:.1f}s)")
    step = Step(model, optimizer, shape, device)
    step.fill(next(feed))
    log("setup", f"first batch after {time.monotonic() - start:.1f}s")
    if cuda and not options.no_graph:
        step.capture(show=lambda text: log("setup", f"{text} ({time.monotonic() - start:.1f}s)"))
    if cuda and options.smoke:
        reference = build_model(config, device, torch.float32, options.seed, Operations())
        for line in [*model_errors(step, reference), *step.table()]:
            log("table", line)
        del reference
        torch.cuda.empty_cache()
    return step, progress
