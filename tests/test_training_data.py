"""The training data says what the product would say, and keeps its held-out side apart."""

from __future__ import annotations

import importlib
import json
import pkgutil
import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from jsonschema import validate

import training.data
from kimi_sdk.errors import Retry
from kimi_sdk.messages import Message
from kimi_sdk.output import constraint_for
from kimi_sdk.protocol import Tokenizer, parse, render
from kimi_sdk.protocol.grammar import TurnGrammar
from kimi_sdk.protocol.segments import Start
from kimi_sdk.tools.builtin import builtin_tools
from kimi_sdk.vision.image import Image
from kimi_sdk.vision.preprocess import MediaLimits, patch_array, token_count
from training.data import labels
from training.data.clauses import Scene, told_by
from training.data.document import ASSISTANT, PICTURED, pack
from training.data.extraction import Domain
from training.data.frames import Pool, compile_line, draw
from training.data.invented import Service
from training.data.looking import View
from training.data.mix import FAMILIES, STAGES, Mix, heldout_documents
from training.data.pictures import LIMITS, patchify
from training.data.sample import Picture, Sample
from training.data.speech import Intent
from training.data.split import held_frames, value_held

FOLDER = Path(__file__).parent.parent / "kimi_sdk" / "checkpoints" / "k3-mini"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.load(FOLDER)


def as_product(message: Message) -> Message:
    """The message with real images in the place of pictures."""
    parts = tuple(
        Image.from_pil(PIL.Image.fromarray(part.pixels)) if isinstance(part, Picture) else part
        for part in message.parts
    )
    return replace(message, parts=parts)


def product_prompt(sample: Sample, turn: int, tokenizer: Tokenizer) -> list[int]:
    """The product's prompt for the assistant message at index ``turn``."""
    last = turn == len(sample.messages) - 1
    prompt = render(
        [as_product(message) for message in sample.messages[:turn]],
        tools=sample.tools,
        thinking=sample.thinking,
        effort=sample.effort,  # type: ignore[arg-type]
        tool_choice=sample.tool_choice if last else "auto",
        response_format=sample.response_format if last else None,
    )
    return prompt.encode(tokenizer, image_tokens=lambda size: token_count(size, LIMITS)).ids


def replies(sample: Sample) -> list[int]:
    return [index for index, message in enumerate(sample.messages) if message.role == "assistant"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("held", [False, True])
def test_documents_are_the_products_tokens(family: str, held: bool, tokenizer: Tokenizer) -> None:
    mix = Mix(7, tokenizer, held=held)
    for _ in range(4):
        sample = mix.sample(family)
        document = mix.encoder.encode(sample, family)
        ids = document.ids.tolist()
        assert len(document.weights) == len(ids)
        for turn in replies(sample):
            prompt = product_prompt(sample, turn, tokenizer)
            assert ids[: len(prompt)] == prompt
            end = len(prompt) + ids[len(prompt) :].index(tokenizer.end_of_msg_id) + 1
            written = ids[len(prompt) : end]
            start: Start = "think" if sample.thinking else "response"
            parsed = parse(written, start=start, tokenizer=tokenizer)
            message = sample.messages[turn]
            assert (parsed.content or "") == message.text
            assert (parsed.reasoning or "") == message.reasoning
            assert [(call.name, call.args) for call in parsed.calls] == [
                (call.name, dict(call.args)) for call in message.calls
            ]
            if turn == replies(sample)[-1] or not sample.last_only:
                own = PICTURED if document.images else ASSISTANT
                assert set(document.weights[len(prompt) : end]) == {own}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_grammar_lets_the_model_write_it(family: str, tokenizer: Tokenizer) -> None:
    mix = Mix(11, tokenizer)
    for _ in range(2):
        sample = mix.sample(family)
        ids = mix.encoder.encode(sample).ids.tolist()
        turn = replies(sample)[-1]
        prompt = product_prompt(sample, turn, tokenizer)
        output = None
        if sample.response_format is not None:
            output = constraint_for(sample.response_format["json_schema"]["schema"])
        grammar = TurnGrammar.build(
            tokenizer,
            start="think" if sample.thinking else "response",
            tools=sample.tools,
            output=output,
        )
        mask = grammar.matcher()
        for token in ids[len(prompt) :]:
            mask.accept(token)
        assert mask.finished


@pytest.mark.parametrize("family", FAMILIES)
def test_calls_fit_their_declarations(family: str, tokenizer: Tokenizer) -> None:
    for sample in (Mix(3, tokenizer).sample(family) for _ in range(8)):
        schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in sample.tools}
        assert len(schemas) == len(sample.tools)
        for message in sample.messages:
            for call in message.calls:
                validate(dict(call.args), schemas[call.name])
                assert list(call.args) == [
                    key for key in schemas[call.name]["properties"] if key in call.args
                ]
        if sample.response_format is not None and not sample.messages[-1].calls:
            validate(json.loads(sample.messages[-1].text), sample.response_format["json_schema"]["schema"])


def test_results_come_from_the_tools(tokenizer: Tokenizer) -> None:
    tools = {tool.name: tool for tool in builtin_tools()}
    mix, seen = Mix(5, tokenizer), 0
    for _ in range(50):
        sample = mix.sample("shipped")
        results = {r.call_id: r for message in sample.messages for r in message.results}
        for call in (call for message in sample.messages for call in message.calls):
            if call.name in ("calculate", "convert_units", "days_between", "country_facts", "shift_time"):
                positional, named = tools[call.name].bind(call.args)
                result = results[call.id]
                if result.is_error:
                    with pytest.raises(Retry, match=re.escape(result.text)):
                        tools[call.name](*positional, **named)
                else:
                    assert str(tools[call.name](*positional, **named)) == result.text
                seen += 1
    assert seen > 20


def pools() -> list[Pool]:
    """Every pool of every module of the package."""
    found: dict[int, Pool] = {}
    for info in pkgutil.iter_modules(training.data.__path__):
        module = importlib.import_module(f"training.data.{info.name}")
        for value in vars(module).values():
            for item in (
                value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
            ):
                for part in item if isinstance(item, tuple) else [item]:
                    if isinstance(part, Pool):
                        found[id(part)] = part
                    elif isinstance(part, Intent):
                        found |= {id(pool): pool for pool in part.pools.values()}
                    elif isinstance(part, (Domain, Service)):
                        pool = part.lines if isinstance(part, Domain) else part.requests
                        found[id(pool)] = pool
    return list(found.values())


def test_held_out_frames_are_never_trained() -> None:
    everything = pools()
    assert len(everything) > 150
    for pool in everything:
        held = held_frames(pool.name, pool.lines)
        assert len(pool.held) == len(held)
        assert len(pool.train) == len(pool.lines) - len(held)
        assert bool(held) or len(pool.lines) < 4
        assert not any(compile_line(line) in pool.train for line in held)
    assert sum(len(pool.held) for pool in everything) > 200


def test_held_out_values_are_never_trained(tokenizer: Tokenizer) -> None:
    for held in (False, True):
        mix = Mix(2, tokenizer, held=held)
        for _ in range(40):
            messages = mix.sample("shipped").messages
            refused = {r.call_id for message in messages for r in message.results if r.is_error}
            for message in messages:
                for call in message.calls:
                    if call.name == "country_facts" and call.id not in refused:
                        assert value_held(call.args["country"]) == held
                    elif call.name == "day_of_week":
                        assert value_held(call.args["date"]) == held


def test_pictures_become_the_products_patches() -> None:
    rng = random.Random(4)
    for _ in range(12):
        picture = View(rng).picture
        patches, grid = patchify(picture)
        exact = patch_array(PIL.Image.fromarray(picture.pixels), LIMITS)
        assert grid == exact.shape[:2]
        scaled = (patches.astype(np.float32) / 255 - 0.5) / 0.5
        assert np.abs(scaled - exact.reshape(len(patches), -1)).max() < 1e-6
        assert len(patches) <= 64


def test_limits_are_the_checkpoints() -> None:
    data = json.loads((FOLDER / "preprocessor_config.json").read_text())
    assert MediaLimits.from_config(data) == LIMITS


def test_rows_hold_whole_documents(tokenizer: Tokenizer) -> None:
    mix = Mix(1, tokenizer, "main")
    batch = next(pack(mix, 3, 2048, pad=tokenizer.specials["[PAD]"], waiting=12))
    assert batch.ids.shape == batch.weights.shape == batch.segments.shape == (3, 2048)
    assert (batch.ids[batch.segments == 0] == tokenizer.specials["[PAD]"]).all()
    assert (batch.weights[batch.segments == 0] == 0).all()
    for (row, column), (rows, columns) in zip(batch.places, batch.grids, strict=True):
        count = rows * columns // 4
        assert (batch.ids[row, column : column + count] == tokenizer.media_pad_id).all()
        assert batch.ids[row, column - 1] == tokenizer.media_content_id


def test_a_seed_gives_the_same_documents(tokenizer: Tokenizer) -> None:
    for stage in STAGES:
        first, second = Mix(9, tokenizer, stage), Mix(9, tokenizer, stage)
        for _ in range(5):
            assert next(first).ids.tolist() == next(second).ids.tolist()


def test_heldout_documents_fit(tokenizer: Tokenizer) -> None:
    documents = heldout_documents("chain", 3, 0, tokenizer)
    assert len(documents) == 3
    assert all(len(document) <= 2048 and (document.weights >= ASSISTANT).any() for document in documents)


def test_template_lines() -> None:
    rng = random.Random(0)
    seen = set()
    for _ in range(60):
        out: list[str] = []
        draw(compile_line("[a|b [c|]]{x}!"), rng, out)
        seen.add("".join(out))
    assert seen == {"ax!", "b cx!", "b x!"}
    with pytest.raises(ValueError, match="Missing"):
        compile_line("[a|b")


def test_numbers_are_compared_with_a_right_reason() -> None:
    rng = random.Random(0)
    for _ in range(3000):
        one, two = labels.two_numbers(rng)
        reason = labels.compared(one, two)
        assert one != two
        assert reason.endswith(f"{one} is {'more' if one > two else 'less'} than {two}.")
        digits = re.search(r": (\d) is (more|less) than (\d), so", reason)
        if digits:
            assert (int(digits[1]) > int(digits[3])) == (digits[2] == "more")
            assert (one > two) == (digits[2] == "more")


def test_a_composed_sentence_says_its_fields_and_never_hints_at_absent_ones() -> None:
    rng = random.Random(0)
    for _ in range(500):
        scene = Scene(rng)
        text, told = told_by(scene, rng, False)
        assert "n" in told
        assert not set("{|}") & set(text)
        assert all(value[0] in text for value in told.values())
        kinds = {scene.kinds[slot].text for slot in told}
        assert not kinds & {kind.text for slot, kind in scene.kinds.items() if slot not in told}
