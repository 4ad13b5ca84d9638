"""`pv.load_model`: a chain or a model of sequences, as the file says; anything else is refused in one way."""

from __future__ import annotations

from pathlib import Path

import pytest

import pathveil as pv


def test_the_file_says_which_model_it_is(tmp_path: Path) -> None:
    visits = ["abc", "ab"] * 50
    chain = pv.fit_private_chain(words=visits, states="abc", epsilon=1.0, unit="word", max_length=4)
    sequences = pv.fit_private_sequences(visits, states="abc", epsilon=1.0, max_length=4)
    for name, model in (("chain", chain), ("sequences", sequences)):
        model.save(tmp_path / name)
        loaded = pv.load_model(tmp_path / name)
        assert type(loaded) is type(model)
        assert loaded.guarantee == model.guarantee


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no model",
        b"[1, 2]",
        b"{}",
        b"null",
        b'"text"',
        b"\xff\xfe\x00",
        b'{"format": "pathveil sequences"}',
        b'{"format": "pathveil sequences", "version": 1}',
        b'{"format": ["pathveil sequences"]}',
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b'{"format": "pathveil Markov chain", "version": 1}',
    ],
)
def test_what_is_no_model_is_refused_and_the_file_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.json").write_bytes(content)
    with pytest.raises(pv.InvalidSystemError, match=r"odd\.json: "):
        pv.load_model(tmp_path / "odd.json")


def test_a_model_of_sequences_is_no_chain() -> None:
    model = pv.fit_private_sequences(["ab"] * 9, states="ab", epsilon=1.0, max_length=4)
    with pytest.raises(pv.InvalidSystemError, match="not a saved chain"):
        pv.MarkovChain.from_json(model.to_json())
