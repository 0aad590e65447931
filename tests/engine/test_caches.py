"""Slots, pages and batches: who owns what, and where a batch's tokens go."""

from __future__ import annotations

import pytest
import torch

from kimi_sdk.engine.batch import Batch
from kimi_sdk.engine.config import K3Config
from kimi_sdk.engine.pages import PagePool
from kimi_sdk.engine.slots import SlotPool
from kimi_sdk.errors import EngineError, OutOfMemory

CONFIG = K3Config.tiny(64, vision=False)


def test_slots_come_zeroed_and_go_back() -> None:
    pool = SlotPool(CONFIG, 2)
    assert sorted(pool.recurrent) == [0, 1, 2]
    assert pool.recurrent[0].shape == (2, 2, 32, 32)
    assert pool.conv[0].shape == (2, 3, 192)
    assert pool.bytes_per_slot == 3 * 4 * (2 * 32 * 32 + 3 * 192)
    first, second = pool.allocate(), pool.allocate()
    with pytest.raises(OutOfMemory, match="all 2"):
        pool.allocate()
    pool.recurrent[1][second].fill_(float("nan"))
    pool.conv[2][second].fill_(3)
    pool.free(second)
    with pytest.raises(EngineError, match="not in use"):
        pool.free(second)
    assert pool.allocate() == second
    assert not pool.recurrent[1][second].any()
    assert not pool.conv[2][second].any()
    pool.recurrent[0][first].fill_(2)
    pool.copy(first, second)
    assert (pool.recurrent[0][second] == 2).all()


def test_pages_are_given_whole_or_not_at_all() -> None:
    pool = PagePool(CONFIG, 4)
    assert list(pool.rows) == [3]
    assert pool.rows[3].shape == (4, 64, 48)
    assert [pool.pages_for(n) for n in (1, 64, 65)] == [1, 1, 2]
    taken = pool.allocate(3)
    assert taken == [0, 1, 2]
    with pytest.raises(OutOfMemory, match="2 pages are wanted, 1 of 4 are free"):
        pool.allocate(2)
    assert pool.available == 1
    pool.rows[3][1].fill_(float("inf"))
    pool.free([1])
    with pytest.raises(EngineError, match="page 1"):
        pool.free([1])
    assert pool.allocate() == [1]
    assert not pool.rows[3][1].any()


def test_rows_of_new_tokens_follow_the_page_tables() -> None:
    batch = Batch(
        lengths=[3, 1], contexts=[62, 64], slots=torch.tensor([1, 0]), pages=[[5, 2], torch.tensor([0, 7])]
    )
    assert batch.cache_rows.tolist() == [5 * 64 + 62, 5 * 64 + 63, 2 * 64, 7 * 64]
    assert batch.last_rows == [2, 3]
    assert not batch.decode


def test_chunks_begin_at_multiples_of_their_size() -> None:
    batch = Batch(lengths=[70, 5], contexts=[60, 0], slots=[0, 1], pages=[[0, 1, 2], [3]])
    plan = batch.chunks(4)
    assert plan is not None
    assert plan.steps == (2, 1, 1)
    assert plan.real.sum(-1).tolist() == [4, 5, 64, 2]
    assert plan.real[0].nonzero()[0].item() == 60


def test_a_run_of_slots_is_used_in_place() -> None:
    in_a_row = Batch(lengths=[1, 1], contexts=[0, 0], slots=[2, 3], pages=[[0], [1]])
    apart = Batch(lengths=[1, 1], contexts=[0, 70], slots=[3, 2], pages=[[4], [1, 0]])
    assert in_a_row.singles is not None
    assert in_a_row.singles.run == slice(2, 4)
    assert apart.singles is not None
    assert apart.singles.run is None
    assert apart.singles.table.tolist() == [[4, 4], [1, 0]]


def test_a_page_table_that_is_too_short_is_a_bug() -> None:
    with pytest.raises(AssertionError, match="too short"):
        Batch(lengths=[5], contexts=[60], slots=[0], pages=[[0]])
