from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_sdk.errors import ConfigError, LoadError
from kimi_sdk.protocol import Tokenizer
from kimi_sdk.protocol.tokenizer import cuts

SMALL = {bytes((value,)): value for value in range(256)}


def test_slots_follow_the_base_ranks_in_k3s_layout(tokenizer: Tokenizer) -> None:
    first = tokenizer.base_size
    assert tokenizer.vocab_size == first + 64
    assert tokenizer.specials["[BOS]"] == first
    assert (tokenizer.end_of_msg_id, tokenizer.open_id, tokenizer.close_id, tokenizer.sep_id) == (
        first + 2,
        first + 3,
        first + 4,
        first + 5,
    )
    assert tokenizer.media_begin_id == first + 18
    assert tokenizer.media_content_id == first + 19
    assert tokenizer.media_end_id == first + 20
    assert tokenizer.media_pad_id == first + 21
    assert tokenizer.specials["[UNK]"] == first + 62
    assert tokenizer.specials["[PAD]"] == first + 63
    assert tokenizer.specials[f"<|reserved_token_{first + 8}|>"] == first + 8
    assert len(tokenizer.specials) == 64


def test_without_a_config_there_are_256_slots(folder: Path) -> None:
    alone = Tokenizer.load(folder / "tiktoken.model")
    assert alone.vocab_size == alone.base_size + 256
    assert alone.specials["<osagent_mode>"] == alone.base_size + 65


def test_k2_names_the_same_slots_otherwise(k2_tokenizer: Tokenizer) -> None:
    first = k2_tokenizer.base_size
    assert k2_tokenizer.specials["<|im_end|>"] == first + 2
    assert k2_tokenizer.specials["<think>"] == first + 22
    with pytest.raises(ConfigError, match=r"no special token '<\|open\|>'"):
        _ = k2_tokenizer.open_id


def test_special_spellings_count_only_where_they_may(tokenizer: Tokenizer) -> None:
    text = "a<|open|>b"
    assert tokenizer.open_id in tokenizer.encode(text, special=True)
    plain = tokenizer.encode(text)
    assert all(token < tokenizer.base_size for token in plain)
    assert tokenizer.decode(plain) == tokenizer.decode(tokenizer.encode(text, special=True)) == text


def test_merges_and_classes_of_the_pattern(tokenizer: Tokenizer) -> None:
    assert [tokenizer.token_bytes(token) for token in tokenizer.encode("message the 漢字")][:2] == [
        b"message",
        b" the",
    ]
    # Three digits at most in one piece, Han characters apart from letters.
    assert tokenizer.encoding.decode_tokens_bytes(tokenizer.encode("ab1234")) == [
        bytes((byte,)) for byte in b"ab1234"
    ]


def test_a_lone_surrogate_does_not_stop_the_encoder(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode("a\ud800b")) == "a\ufffdb"


def test_ids_outside_the_vocabulary_are_refused(tokenizer: Tokenizer) -> None:
    for token in (-1, tokenizer.vocab_size):
        with pytest.raises(ConfigError, match="outside the vocabulary"):
            tokenizer.token_bytes(token)


@given(st.text())
def test_decode_undoes_encode(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert all(token < tokenizer.base_size for token in ids)
    assert tokenizer.decode(ids) == text


@given(st.text(alphabet="ab漢é🦦<|open|>\n", max_size=30))
def test_the_decoder_never_splits_a_character(tokenizer: Tokenizer, text: str) -> None:
    decoder = tokenizer.decoder()
    pieces = [decoder.push(token) for token in tokenizer.encode(text)]
    assert "".join(pieces) == text
    assert "\ufffd" not in "".join(pieces)
    assert decoder.finish() == ""


def test_the_decoder_ends_an_incomplete_character(tokenizer: Tokenizer) -> None:
    decoder = tokenizer.decoder()
    assert decoder.push(0xE6) == ""
    assert decoder.finish() == "\ufffd"
    assert decoder.push(ord("a")) == "a"


def _cut_by_walking(text: str) -> list[str]:
    pieces = []
    for start in range(0, len(text), 400_000):
        piece = text[start : start + 400_000]
        begin = run = 0
        blank = None
        for at, character in enumerate(piece):
            run = run + 1 if character.isspace() == blank else 1
            blank = character.isspace()
            if run > 25_000:
                pieces.append(piece[begin:at])
                begin, run = at, 1
        pieces.append(piece[begin:])
    return [piece for piece in pieces if piece]


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["a", " ", "\n", "漢", "a b"]), st.integers(1, 60_000)), max_size=6)
)
def test_cuts_are_those_of_a_walk_over_the_characters(runs: list[tuple[str, int]]) -> None:
    text = "".join(piece * count for piece, count in runs)
    assert [piece for piece in cuts(text) if piece] == _cut_by_walking(text)


def test_cuts_of_a_very_long_text() -> None:
    assert [len(piece) for piece in cuts("x y" * 200_000)] == [400_000, 200_000]
    assert [len(piece) for piece in cuts("x" * 60_000)] == [25_000, 25_000, 10_000]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "byte 0x00 has no token"),
        (b"QQ== x\n", "line 1"),
        (b"!!! 0\n", "line 1"),
        (b"QQ== 0\nQQ== 1\n", "line 2"),
        (b"QQ== 0\nQg== 5\n", "leaves a hole"),
        (b"\x80\x00garbage", "line 1"),
    ],
)
def test_broken_rank_files(tmp_path: Path, data: bytes, words: str) -> None:
    file = tmp_path / "broken.model"
    file.write_bytes(data)
    with pytest.raises(LoadError, match=words):
        Tokenizer.load(file)


def test_files_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="Cannot read"):
        Tokenizer.load(tmp_path / "missing.model")
    with pytest.raises(LoadError, match="Cannot read"):
        Tokenizer.load(tmp_path)
    with (tmp_path / "huge.model").open("wb") as stream:
        stream.truncate((64 << 20) + 1)
    with pytest.raises(LoadError, match="larger than"):
        Tokenizer.load(tmp_path / "huge.model")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("{", "is not JSON"),
        ("[]", "must hold a JSON object"),
        ('{"special_slots": 0}', "special_slots"),
        ('{"added_tokens_decoder": {"x": 1}}', "added_tokens_decoder"),
        ('{"added_tokens_decoder": {"9": {"content": "<|open|>"}}}', "outside 256..511"),
        ('{"added_tokens_decoder": {"256": {"content": "<|im_end|>"}}}', "no K3 tokenizer"),
    ],
)
def test_broken_configs(tmp_path: Path, config: str, words: str) -> None:
    lines = (b"%s %d" % (base64.b64encode(token), rank) for token, rank in SMALL.items())
    (tmp_path / "tiktoken.model").write_bytes(b"\n".join(lines))
    (tmp_path / "tokenizer_config.json").write_text(config)
    with pytest.raises(LoadError, match=words):
        Tokenizer.load(tmp_path)


def test_a_config_may_name_other_ids() -> None:
    names = {300 + n: name for n, name in enumerate(("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"))}
    moved = Tokenizer(SMALL, slots=64, names=names)
    assert (moved.open_id, moved.end_of_msg_id) == (300, 303)
    with pytest.raises(LoadError, match="same name"):
        Tokenizer(SMALL, slots=64, names=names | {310: "<|open|>"})


def test_the_real_rank_file(real_tokenizer: Tokenizer) -> None:
    assert real_tokenizer.vocab_size == 163_840
    assert real_tokenizer.open_id == 163_587
    assert real_tokenizer.encode("naïve café") == [4768, 44187, 367, 70591]
    ids = real_tokenizer.encode("QUJDRA" * 5000, special=True)
    digest = hashlib.sha256(json.dumps(ids, separators=(",", ":")).encode()).hexdigest()
    assert (len(ids), digest[:8]) == (19_999, "59029605")
