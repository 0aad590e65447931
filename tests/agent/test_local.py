"""The engine behind a model: the tiny random one writes legal turns, ends where it must, frees everything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import anyio
import PIL.Image
import pytest

from kimi_sdk import (
    Agent,
    Choice,
    Image,
    Limits,
    Message,
    Model,
    Reasoning,
    ReasoningDelta,
    Sampling,
    TextDelta,
    tool,
)
from kimi_sdk.errors import (
    ConfigError,
    ContextOverflow,
    EngineClosed,
    LimitExceeded,
    LoadError,
    OutputError,
    SchemaError,
)
from kimi_sdk.local import read_sampling
from kimi_sdk.testing import assert_idle, forbid_loading

pytestmark = pytest.mark.anyio

SHORT = Sampling(thinking_tokens=4, max_tokens=40, seed=1)


@pytest.fixture(scope="module")
def tiny() -> Iterator[Model]:
    model = Model.from_config("tiny", seed=3)
    yield model
    assert_idle(model)
    model.close()


@tool
def paint(colour: Literal["red", "green"], times: int, bright: bool = False) -> str:
    """Paint.

    Args:
        colour: which.
        times: how often.
        bright: whether brightly.
    """
    return f"{colour} {times}"


@tool
def rest(minutes: Literal[1, 5, 10]) -> str:
    """Rest."""
    return f"rested {minutes}"


async def test_a_turn_has_thoughts_text_and_exact_counts(tiny: Model) -> None:
    reply = await tiny.chat("Hello", sampling=SHORT)
    assert reply.usage.thinking_tokens == 4
    assert reply.usage.output_tokens == len(reply.token_ids) <= 40
    assert reply.usage.prompt_tokens == tiny.count("Hello")
    assert isinstance(reply.message.parts[0], Reasoning)
    assert "<|" not in reply.message.text.replace("<|reserved", "")


async def test_a_seed_repeats_a_turn(tiny: Model) -> None:
    first = await tiny.chat("Hello", sampling=SHORT)
    async with anyio.create_task_group() as group:
        for text in ("a", "bb", "ccc"):
            group.start_soon(lambda text=text: tiny.chat(text, sampling=SHORT))  # type: ignore[misc]
        again = await tiny.chat("Hello", sampling=SHORT)
    assert again.token_ids == first.token_ids
    assert again.message == first.message


async def test_every_call_is_declared_and_valid(tiny: Model) -> None:
    """A model that knows nothing cannot write a wrong call: the grammar holds its hand."""
    tools = {"paint": paint, "rest": rest}

    async def one(seed: int) -> None:
        name = ("paint", "rest")[seed % 2]
        sampling = Sampling(temperature=1.0, top_p=1.0, seed=seed, thinking_tokens=seed % 5, max_tokens=400)
        reply = await tiny.chat("Go", tools=tools.values(), tool_choice=name, sampling=sampling)
        for call in reply.message.calls:
            assert call.name == name
            tools[call.name].bind(call.args)
        assert reply.message.calls or reply.finish_reason == "length"
        called.append(len(reply.message.calls))

    called: list[int] = []
    async with anyio.create_task_group() as group:
        for seed in range(20):
            group.start_soon(one, seed)
    assert sum(1 for count in called if count) >= 18


async def test_typed_outputs_are_enforced(tiny: Model) -> None:
    sampling = Sampling(thinking_tokens=2, seed=5)
    assert (await tiny.chat("Go", output_type=bool, sampling=sampling)).output in (True, False)
    scale = Choice({"angry": -1, "happy": 1})
    assert (await tiny.chat("Go", output_type=scale, sampling=sampling)).output in (-1, 1)
    assert (await tiny.generate("Go", output_type=scale)).output in (-1, 1)
    result = await Agent(tiny, output_type=Literal["x", "y"], sampling=sampling).run("Go")  # type: ignore[arg-type]
    assert result.output in ("x", "y")
    with pytest.raises(OutputError, match="cut by max_tokens"):
        await tiny.chat("Go", output_type=bool, sampling=Sampling(max_tokens=2))


async def test_an_agent_runs_on_the_engine(tiny: Model) -> None:
    agent = Agent(tiny, tools=[rest], limits=Limits(steps=2), sampling=SHORT)
    async with agent.stream("Go") as stream:
        text = "".join([event.text async for event in stream if isinstance(event, TextDelta)])
        result = await stream.result()
    assert text == result.output
    assert result.trace.steps[0].turn.seed == 1
    assert result.trace.steps[0].turn.token_ids


async def test_stop_strings_end_the_text_before_them(tiny: Model) -> None:
    free = await tiny.chat("Hello", sampling=SHORT)
    stop = free.message.text[3:5]
    reply = await tiny.chat(
        "Hello", sampling=Sampling(thinking_tokens=4, max_tokens=40, seed=1, stop=(stop,))
    )
    assert reply.output == free.message.text[: free.message.text.find(stop)]
    assert reply.finish_reason == "stop"


async def test_logprobs(tiny: Model) -> None:
    reply = await tiny.chat("Hello", sampling=Sampling(thinking=False, max_tokens=5, seed=1, logprobs=3))
    assert [entry.token_id for entry in reply.logprobs] == list(reply.token_ids)
    for entry in reply.logprobs:
        assert len(entry.top) <= 3
        assert entry.logprob <= 1e-6


async def test_images_take_their_tokens(tiny: Model) -> None:
    picture = Image.from_pil(PIL.Image.new("RGB", (56, 56), "red"))
    reply = await tiny.chat([picture, "What?"], sampling=SHORT)
    assert reply.usage.image_tokens == 4
    assert reply.usage.prompt_tokens == tiny.count([picture, "What?"])


async def test_the_context_is_checked_before_anything_is_loaded() -> None:
    model = Model.from_config("tiny")
    with pytest.raises(ContextOverflow) as caught:
        await model.chat("x" * 20_000)
    assert caught.value.needed > caught.value.available == 16384
    assert model._backend._engine is None  # type: ignore[attr-defined]
    assert_idle(model)


async def test_leaving_a_stream_aborts_the_engines_work(tiny: Model) -> None:
    async with Agent(tiny).stream("Go") as stream:
        async for event in stream:
            if hasattr(event, "text"):
                break
    assert_idle(tiny)
    assert tiny._backend.engine().idle()  # type: ignore[attr-defined]


async def test_cancel_while_tokens_come(tiny: Model) -> None:
    with anyio.CancelScope() as scope:
        async with Agent(tiny).stream("Go") as stream:
            async for event in stream:
                if isinstance(event, ReasoningDelta | TextDelta):
                    scope.cancel()
    assert scope.cancelled_caught
    assert_idle(tiny)
    assert tiny._backend.engine().idle()  # type: ignore[attr-defined]


async def test_token_limits_are_exact(tiny: Model) -> None:
    prompt = tiny.count("Go")
    with pytest.raises(LimitExceeded) as caught:
        await Agent(tiny, limits=Limits(tokens=prompt + 7)).run("Go")
    usage = caught.value.usage
    assert usage.prompt_tokens + usage.output_tokens == prompt + 7


async def test_closing_ends_everything() -> None:
    model = Model.from_config("tiny")
    async with model:
        pass
    with pytest.raises(EngineClosed, match="closed"):
        await model.chat("Go")
    model.close()


async def test_closing_under_a_running_turn() -> None:
    model = Model.from_config("tiny")

    async def run() -> None:
        with pytest.raises(EngineClosed):
            await model.chat("Go")

    await model.chat("Go", sampling=SHORT)
    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await anyio.sleep(0.2)
        await model.aclose()
    assert_idle(model)


def test_one_model_serves_loops_one_after_another() -> None:
    model = Model.from_config("tiny")
    for backend in ("asyncio", "trio"):
        reply = anyio.run(lambda: model.chat("Go", sampling=SHORT), backend=backend)
        assert reply.usage.thinking_tokens == 4
    assert Agent(model, sampling=SHORT).run_sync("Go").usage.steps == 1
    model.close()


async def test_schemas_that_cannot_be_enforced_are_refused_when_the_agent_is_made(tiny: Model) -> None:
    with pytest.raises(SchemaError, match="not"):
        Agent(tiny, output_type={"type": "object", "not": {"required": ["a"]}})  # type: ignore[arg-type]


async def test_sources_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(LoadError, match="hf download nobody/Nothing") as caught:
        Agent("nobody/Nothing")
    assert "models--nobody--Nothing" in str(caught.value)
    with pytest.raises(LoadError, match=r"no config\.json"):
        Model.from_pretrained(tmp_path)
    with pytest.raises(LoadError, match="is a file"):
        Model.from_pretrained(__file__)
    with pytest.raises(ConfigError, match="device"):
        Model.from_pretrained(tmp_path, device="tpu")
    with pytest.raises(ConfigError, match="dtype"):
        Model.from_pretrained(tmp_path, dtype="int3")


async def test_generation_settings_of_a_folder(tmp_path: Path) -> None:
    assert read_sampling(tmp_path) == Sampling()
    file = tmp_path / "generation_config.json"
    file.write_text('{"do_sample": false, "max_new_tokens": 9, "thinking": false, "eos_token_id": 1}')
    assert read_sampling(tmp_path) == Sampling(temperature=0.0, max_tokens=9, thinking=False)
    file.write_text('{"temperature": -1}')
    with pytest.raises(LoadError, match="temperature"):
        read_sampling(tmp_path)
    file.write_text("[1]")
    with pytest.raises(LoadError, match=r"generation_config\.json"):
        read_sampling(tmp_path)


async def test_loading_can_be_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    from kimi_sdk.source import bundled_names

    monkeypatch.setenv("KIMI_SDK_FORBID_LOADING", "")
    forbid_loading()
    if not bundled_names():
        pytest.skip("no bundled model")
    model = Model.from_pretrained("k3-mini")
    with pytest.raises(LoadError, match="forbidden"):
        await model.chat("Hello")
    assert_idle(model)


async def test_histories_with_images_and_calls_render(tiny: Model) -> None:
    picture = Image.from_pil(PIL.Image.new("RGB", (28, 28), "blue"))
    first = await tiny.chat(
        "Go", tools=[rest], tool_choice="rest", sampling=Sampling(thinking_tokens=1, seed=2)
    )
    call = first.message.calls[0]
    from kimi_sdk import Text, ToolResult

    history = [
        Message.user("Go"),
        first.message,
        Message.tool(*(ToolResult(c.id, c.name, (Text("ok"), picture)) for c in first.message.calls)),
    ]
    reply = await tiny.chat(history, tools=[rest], sampling=SHORT)
    assert reply.usage.image_tokens == len(first.message.calls)
    assert call.index == 1
