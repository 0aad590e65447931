"""Evaluation tasks judge what they should."""

from __future__ import annotations

import pytest

from kimi_sdk.messages import Text, ToolCall, ToolResult
from training.tasks import FAMILIES, Outcome, by_calls, fields, make, same_call, states


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_done_is_never_right(family: str) -> None:
    tasks = make(family, 3, 1)
    assert tasks
    for task in tasks:
        assert task.prompt
        assert not task.judge(Outcome())["ok"]
        task.finish()


def test_a_seed_gives_the_same_tasks() -> None:
    first, second = (make("two_step", 4, 3) for _ in range(2))
    assert [task.prompt for task in first] == [task.prompt for task in second]
    for task in (*first, *second):
        task.finish()


def test_calls_are_compared_by_meaning() -> None:
    wanted = ToolCall("1", "calculate", {"expression": "12 * 7"}, 1)
    assert same_call(wanted, ToolCall("2", "calculate", {"expression": "7*12"}, 1))
    assert not same_call(wanted, ToolCall("2", "calculate", {"expression": "12 + 7"}, 1))
    assert not same_call(wanted, ToolCall("2", "reckon", {"expression": "12 * 7"}, 1))
    listing = ToolCall("1", "list_files", {}, 1)
    assert same_call(listing, ToolCall("2", "list_files", {"path": "."}, 1))


def test_an_answer_states_a_result_as_a_whole_number() -> None:
    assert states("That is 1,250 miles.", "1250 miles")
    assert states("It is 25.", "25 celsius")
    assert not states("It is 250.", "25 celsius")
    assert not states("It is 25.5", "25")
    assert states("The capital is Lima.", "Lima")


def test_calls_and_answer_are_judged_apart() -> None:
    call = ToolCall("1", "day_of_week", {"date": "2024-05-01"}, 1)
    result = ToolResult("1", "day_of_week", (Text("Wednesday"),))
    judge = by_calls([call], [result])
    assert judge(Outcome([call], [result], "A Wednesday.")) == {
        "ok": True,
        "tool": True,
        "answer": True,
        "task": True,
    }
    assert judge(Outcome([call], [result], "A Friday.")) == {
        "ok": True,
        "tool": True,
        "answer": False,
        "task": False,
    }


def test_fields_are_counted_one_by_one() -> None:
    wanted = {"a": 1, "b": {"c": "x", "d": None}, "e": ["p", "q"]}
    assert fields(wanted, wanted) == [True] * 4
    assert fields(wanted, {"a": 1.0, "b": {"c": "y", "d": None}, "e": ["p"]}) == [True, False, True, False]
    assert fields(wanted, None) == [False, False, False, False]
