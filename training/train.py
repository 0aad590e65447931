"""Trains the bundled model: `python -m training.train --minutes 9 --out DIR [--resume DIR] [--final]`.

One process drives one GPU (or, for the proof, a CPU); workers make the data. The schedule is shared by all
runs: each adds its seconds to the checkpoint's, the last one (`--final`) ends its decay exactly at its own
deadline.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training import corpus
from training.feed import Feed
from training.measure import Log, TurnAccuracy, losses
from training.rows import Shape

if TYPE_CHECKING:
    from training.step import Step
    from training.store import Progress

CHECKPOINT = Path(__file__).parent.parent / "kimi_sdk" / "checkpoints" / "k3-mini"


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=9.0, help="this run's length, start-up included")
    parser.add_argument(
        "--total-minutes", type=float, default=19.0, help="planned training time of all runs together"
    )
    parser.add_argument(
        "--decay", type=float, default=0.4, help="share of the total over which the rates fall"
    )
    parser.add_argument(
        "--copy", type=float, default=0.05, help="share of the total, at its start, spent on copying"
    )
    parser.add_argument(
        "--qat", type=float, default=0.33, help="share of the total, at its end, with 4-bit experts"
    )
    parser.add_argument(
        "--final", action="store_true", help="the last run: decay ends at this run's deadline"
    )
    parser.add_argument("--resume", type=Path, help="folder of a checkpoint to go on from")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoint and log")
    parser.add_argument(
        "--config", type=Path, default=CHECKPOINT, help="folder with config.json and tiktoken.model"
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--length", type=int, default=2048)
    parser.add_argument("--images", type=int, default=160, help="image slots of a batch")
    parser.add_argument("--workers", type=int, default=13)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--muon", type=float, default=0.02)
    parser.add_argument("--adam", type=float, default=3e-3)
    parser.add_argument("--steps", type=int, default=0, help="stop after so many steps (0: by the clock)")
    parser.add_argument("--pin", default="race", choices=("first", "two", "four", "race"))
    parser.add_argument("--plain-kda", action="store_true", help="the PyTorch chunk form instead of fla-core")
    parser.add_argument("--plain-attention", action="store_true", help="masked attention instead of varlen")
    parser.add_argument("--no-graph", action="store_true", help="launch kernels one by one")
    parser.add_argument("--smoke", action="store_true", help="also print a throughput table")
    return parser.parse_args()


class Run:
    """One run: builds everything, trains until the deadline, leaves a checkpoint."""

    def __init__(self, options: argparse.Namespace, began: float) -> None:
        self.options, self.began = options, began
        self.deadline = began + options.minutes * 60
        self.shape = Shape(options.rows, options.length, options.images, segments=48 * options.rows)
        options.out.mkdir(parents=True, exist_ok=True)
        self.log = Log(options.out / "log.jsonl")
        self.names = corpus.families()
        self.dial = corpus.StageDial()
        if options.resume is not None:
            self.dial.stage = "main"
        seed = options.seed + (1000 * (time.time_ns() % 10**6) if options.resume else 0)
        make = corpus.source(options.config, self.shape, self.dial)
        self.feed = Feed(make, workers=options.workers, seed=seed)
        held = corpus.source(options.config, self.shape, None)
        self.held_feed = Feed(held, workers=min(2, options.workers), seed=7, depth=2)

    def build(self) -> None:
        """Model, optimizer, graphs; imports torch only now that the workers run."""
        from training.setup import build

        self.step, self.progress = build(self.options, self.shape, self.feed, self.log)
        self.held = [next(self.held_feed) for _ in range(4 if self.options.device == "cuda" else 1)]
        self.held_feed.close()
        self.schedule = self._schedule(self.progress)

    def _schedule(self, progress: Progress) -> Any:
        from training.optim import Schedule

        total = self.options.total_minutes * 60
        if self.options.final:
            total = progress.seconds + (self.deadline - SLACK - time.monotonic())
        return Schedule(total, decay=self.options.decay, warmup=100 if self.options.device == "cuda" else 5)

    def train(self) -> None:
        """Steps until the deadline, with reports, evaluations and checkpoints on their own clocks."""
        step, progress, options = self.step, self.progress, self.options
        start = time.monotonic()
        before = progress.seconds
        reported, evaluated, saved = start, start, start
        steps = marked = 0
        while time.monotonic() < self.deadline - SLACK and (not options.steps or steps < options.steps):
            batch = next(self.feed)
            progress.seconds = before + time.monotonic() - start
            quantise = progress.seconds > self.schedule.total * (1 - options.qat)
            step.optimizer.quantise.fill_(float(quantise))
            factor = self.schedule.factor(progress.seconds, steps)
            self._turn_dial()
            step.train(batch, factor)
            steps += 1
            progress.steps += 1
            progress.tokens += self.shape.tokens
            if steps % 4 == 0:
                step.wait()
            now = time.monotonic()
            if now - reported > REPORT or steps in (1, 2, 5, 20) or steps == options.steps:
                self._report(
                    batch, steps, factor, (steps - marked) * self.shape.tokens / max(1e-9, now - reported)
                )
                reported, marked = time.monotonic(), steps
            if now - evaluated > EVALUATE:
                self._evaluate(steps)
                evaluated = time.monotonic()
            if now - saved > SAVE:
                self._save()
                saved = time.monotonic()
        progress.seconds = before + time.monotonic() - start
        progress.runs += 1
        self._save()
        self._evaluate(steps)

    def _turn_dial(self) -> None:
        done = self.progress.seconds / self.schedule.total
        stage = "copy" if done < self.options.copy else "decay" if done > 1 - self.options.decay else "main"
        if stage != self.dial.stage:
            self.dial.stage = stage
            self.log("stage", f"data stage {stage}", stage=stage)

    def _report(self, batch: Any, steps: int, factor: float, speed: float) -> None:
        step = self.step
        loss, norm = float(step.loss), float(step.optimizer.norm)
        if not math.isfinite(loss):
            self.log("bad", f"step {steps}: loss {loss}, gradient norm {norm}")
        own = losses(batch, step.nll.cpu().numpy(), self.names)
        load = step.load
        spread = f"{float(load.min()):.2f}-{float(load.max()):.2f}" if load.numel() else "none"
        self.log(
            "step",
            f"step {steps} tokens {self.progress.tokens / 1e6:.1f}M {speed / 1e6:.3f}M tok/s loss {loss:.4f} "
            f"own {own.get('all', 0.0):.4f} lr {factor:.3f} norm {norm:.3f} load {spread} "
            f"waited {self.feed.waited:.1f}s | "
            + " ".join(f"{k} {v:.3f}" for k, v in own.items() if k != "all"),
            step=self.progress.steps,
            tokens=self.progress.tokens,
            speed=speed,
            loss=loss,
            own=own,
            factor=factor,
            norm=norm,
        )

    def _evaluate(self, steps: int) -> None:
        start = time.monotonic()
        accuracy = TurnAccuracy(self.names)
        for batch in self.held:
            self.step.probe(batch)
            accuracy.add(batch, self.step.hit.cpu().numpy())
        table = accuracy.table()
        self.log(
            "held out",
            f"step {steps} held-out whole turns ({time.monotonic() - start:.1f}s): "
            + " ".join(f"{name} {share:.3f}/{count}" for name, (share, count) in table.items()),
            step=self.progress.steps,
            turns=table,
        )

    def _save(self) -> None:
        from training.store import save

        start = time.monotonic()
        step: Step = self.step
        tensors = step.optimizer.masters()
        for name, parameter in step.model.k3.named_parameters():
            tensors.setdefault(name, parameter.detach())
        files = save(self.options.out, tensors, self.progress)
        self.log(
            "saved", f"saved {len(files)} files in {time.monotonic() - start:.1f}s", step=self.progress.steps
        )


REPORT, EVALUATE, SAVE = 10.0, 90.0, 120.0
"""Seconds between reports, evaluations, checkpoints."""
SLACK = 30.0
"""Seconds kept free before the deadline for the last checkpoint and evaluation."""


def main() -> None:
    """The program."""
    began = time.monotonic()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    options = arguments()
    run = Run(options, began)
    try:
        run.build()
        run.train()
    finally:
        run.feed.close()
        run.held_feed.close()
    sys.stdout.flush()


if __name__ == "__main__":
    main()
