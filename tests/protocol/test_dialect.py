"""A model whose tokenizer has K2's names is spoken to in K2's format, down to the engine."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from kimi_sdk import Choice, Message, Sampling
from kimi_sdk.backend import PromptRequest, Turn, TurnRequest
from kimi_sdk.errors import ConfigError, LoadError
from kimi_sdk.events import CallReady
from kimi_sdk.local import LocalBackend
from kimi_sdk.output import constraint_for
from kimi_sdk.protocol import Tokenizer
from kimi_sdk.protocol.dialect import prompt_for, thought_ends
from kimi_sdk.protocol.tokenizer import K2_NAMES, K3_NAMES, Family
from kimi_sdk.turn_reader import TurnReader

PING = {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}}
CALL = "<|tool_call_begin|>{}<|tool_call_argument_begin|>{{}}<|tool_call_end|>"


def checkpoint(place: Path, names: dict[int, str]) -> Path:
    lines = [b"%s %d\n" % (base64.b64encode(bytes((value,))), value) for value in range(256)]
    (place / "tiktoken.model").write_bytes(b"".join(lines))
    added = {
        str(256 + offset): {"content": name, "special": False}
        for offset, name in names.items()
        if offset >= 0
    }
    (place / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": added}))
    return place


@pytest.mark.parametrize(("family", "names"), [("k2", K2_NAMES), ("k3", K3_NAMES)])
def test_the_names_tell_the_family(tmp_path: Path, family: Family, names: dict[int, str]) -> None:
    folder = checkpoint(tmp_path, names)
    tokenizer = Tokenizer.load(folder)
    assert tokenizer.family == family
    assert tokenizer.stop_id == 258
    other: Family = "k3" if family == "k2" else "k2"
    with pytest.raises(LoadError, match="is not named"):
        Tokenizer.load(folder, family=other)
    assert Tokenizer.load(folder / "tiktoken.model").family == "k3"


def k2() -> Tokenizer:
    return Tokenizer({bytes((value,)): value for value in range(256)}, family="k2")


def test_prompts_by_family(tokenizer: Tokenizer) -> None:
    messages = [Message.user("hi")]
    assert prompt_for(tokenizer, messages, effort=None).text.startswith(
        '<|open|>message role="user"<|sep|>hi'
    )
    text = prompt_for(k2(), messages, tools=[PING], tool_choice="none").text
    assert text.startswith('<|im_system|>tool_declare<|im_middle|>[{"type":"function"')
    assert text.endswith("<|im_user|>user<|im_middle|>hi<|im_end|><|im_assistant|>assistant<|im_middle|>")
    with pytest.raises(ConfigError, match="tool_choice 'ping' cannot be asked"):
        prompt_for(k2(), messages, tools=[PING], tool_choice="ping")
    with pytest.raises(ConfigError, match="typed output"):
        prompt_for(k2(), messages, response_format={"type": "json_object"})
    assert thought_ends(tokenizer) == {tokenizer.close_id}


def test_k2_calls_keep_their_ids() -> None:
    own = k2()
    reader = TurnReader(own, start="response", tools_declared=True, step=1, stop=(), tools=["ping"])
    text = f"<think>hm</think>x{CALL.format('functions.ping:4')}{CALL.format('functions.ping:4')}<|im_end|>"
    events = [event for token in own.encode(text, special=True) for event in reader.push(token)]
    events += reader.finish()
    assert [event.call.id for event in events if isinstance(event, CallReady)] == [
        "functions.ping:4",
        "ping:2:1",
    ]
    message = reader.message()
    assert (message.reasoning, message.text, len(message.calls)) == ("hm", "x", 2)


@pytest.fixture
def backend() -> LocalBackend:
    made = LocalBackend.from_config("tiny")
    made.tokenizer = k2()
    return made


async def turn(backend: LocalBackend, request: TurnRequest | PromptRequest) -> Turn:
    async with backend.turn(request) as stream:
        async for _ in stream:
            pass
        return stream.turn


@pytest.mark.anyio
async def test_a_k2_model_runs(backend: LocalBackend) -> None:
    request = TurnRequest(
        messages=(Message.user("hi"),), tools=(PING,), sampling=Sampling(max_tokens=12, seed=1)
    )
    done = await turn(backend, request)
    assert done.usage.prompt_tokens == backend.count(request)
    assert 0 < len(done.token_ids) <= 12
    raw = await turn(
        backend, PromptRequest(prompt="<|im_user|>user", sampling=Sampling(max_tokens=3, seed=1))
    )
    assert 0 < len(raw.token_ids) <= 3
    backend.close()


@pytest.mark.anyio
async def test_what_k2_cannot_enforce_is_refused(backend: LocalBackend) -> None:
    output = constraint_for(Choice(["a", "b"]))
    with pytest.raises(ConfigError, match="typed output cannot be enforced"):
        await turn(backend, TurnRequest(messages=(Message.user("hi"),), output=output))
    with pytest.raises(ConfigError, match="typed output cannot be enforced"):
        await turn(backend, PromptRequest(prompt="x", output=output))
    backend.close()
