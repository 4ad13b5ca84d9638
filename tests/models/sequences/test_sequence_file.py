"""A model of sequences that is saved and loaded again is the same model, and a damaged file is refused."""

from __future__ import annotations

import base64
import copy
import json
import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv

STATES = ["home", "cart", "help", "pay", ("tuple", 1)]


def words(seed: int, count: int = 3000, states: list[Any] = STATES) -> list[tuple[Any, ...]]:
    """Words with a memory of two symbols, so that contexts of several depths stand on their own."""
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        word = [draw.randrange(len(states)), draw.randrange(len(states))]
        while draw.random() < 0.75 and len(word) < 9:
            word.append((word[-1] + 2 * word[-2] + (draw.random() < 0.1)) % len(states))
        made.append(tuple(states[code] for code in word[: draw.randrange(1, 9)]))
    return made


def fitted(**asked: Any) -> pv.PrivateSequences:
    common: dict[str, Any] = {"epsilon": 50.0, "max_length": 7, "order": 3, "rng": pv.insecure_seed(3)}
    return pv.fit_private_sequences(words(1), states=STATES, **common | asked)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"order": 1},
        {"order": "auto", "epsilon": 0.2, "delta": 1e-6, "neighbours": "add-remove"},
        {"delta": 1e-3},
        {"ends": True},
        {"unit": "user", "users": [i // 2 for i in range(3000)], "max_words_per_user": 2},
    ],
)
def test_a_saved_model_comes_back_exactly(tmp_path: Path, asked: dict[str, Any]) -> None:
    model = fitted(**asked)
    model.save(tmp_path / "model.json")
    again = pv.load_model(tmp_path / "model.json")
    assert isinstance(again, pv.PrivateSequences)
    assert (again.states, again.guarantee, again.asked) == (model.states, model.guarantee, model.asked)
    assert (again.order, again.frequent, again.own_contexts) == (model.order, model.frequent, model.own_contexts)
    assert again.synthesize(300, pv.insecure_seed(5)) == model.synthesize(300, pv.insecure_seed(5))
    other = words(2)
    assert again.log_loss(other) == model.log_loss(other)
    assert again.to_json() == model.to_json()


def test_contexts_of_several_depths_are_there_to_be_saved() -> None:
    assert fitted().order == 3
    assert fitted(delta=1e-3).frequent


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 6), st.booleans())
def test_models_of_any_support_come_back_exactly(seed: int, order: int, longest: int, with_delta: bool) -> None:
    draw = random.Random(seed)
    letters = "abcd"[: 3 + seed % 2]
    edges = [(a, b) for a in letters for b in letters if draw.random() < 0.6 or (a, b) == ("a", "a")]
    world = pv.MarkovChain.from_edges(edges, initial={"a"})
    data = []
    for _ in range(200):
        word = "a"
        while draw.random() < 0.8:
            following = [b for a, b in edges if a == word[-1]]
            if not following:
                break
            word += draw.choice(following)
        data.append(word)
    model = pv.fit_private_sequences(
        data, states=sorted(world.symbols), epsilon=20.0, delta=1e-3 if with_delta else None, max_length=longest,
        order=order, support=world, rng=pv.insecure_seed(seed),
    )  # fmt: skip
    again = pv.PrivateSequences.from_json(model.to_json())
    assert again.synthesize(50, pv.insecure_seed(1)) == model.synthesize(50, pv.insecure_seed(1))
    assert again.to_json() == model.to_json()


def test_exact_counts_of_frequent_words_are_neither_in_the_model_nor_in_its_file() -> None:
    model = pv.fit_private_sequences(
        [("home", "cart")] * 1234, states=STATES, epsilon=1.0, delta=1e-6, max_length=3, rng=pv.insecure_seed(1)
    )
    assert len(model.frequent) == 1
    assert model._fitted.frequent.times.tolist() == [1]
    assert "1234.0" not in model.to_json()


def damaged(document: dict[str, Any], name: str, value: Any) -> str:
    changed = copy.deepcopy(document)
    *path, last = name.split(".")
    place: Any = changed
    for part in path:
        place = place[int(part)] if part.isdecimal() else place[part]
    if value is KeyError:
        del place[last]
    else:
        place[int(last) if last.isdecimal() else last] = value
    return json.dumps(changed)


def packed(values: Any, kind: str) -> dict[str, Any]:
    array = np.array(values, dtype=kind)
    return {"length": len(array), "packed": base64.b64encode(zlib.compress(array.tobytes())).decode()}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    saved: dict[str, Any] = json.loads(fitted(delta=1e-3).to_json())
    assert saved["contexts"]
    assert saved["frequent"]
    return saved


ROWS = 6  # of depth 1: one for each state, and the beginning
WRONG: list[tuple[str, Any]] = [
    *((name, KeyError) for name in ("states", "guarantee", "asked", "order", "words", "frequent", "lengths", "own")),
    *((name, None) for name in ("states", "guarantee", "asked", "order", "words", "frequent", "contexts", "sizes")),
    ("version", 2),
    ("states", ["home"]),
    ("states", ["home", "home", "help", "pay", "x"]),
    ("asked.epsilon", -1.0),
    ("asked.max_length", 10**9),
    ("asked.unit", "symbol"),
    *(("order", other) for other in (0, 1, 2, 4, 5, 99)),
    ("words", "7"),
    ("words", -1),
    ("words", float("inf")),
    ("lengths", [1.0]),
    ("end_factors", [float("nan")] * 8),
    ("frequent.0.word", []),
    ("frequent.0.word", ["home"] * 8),
    ("frequent.0.word", ["unheard of"]),
    ("frequent.0.count", 0),
    ("frequent.0.count", "9"),
    ("support", {}),
    ("support", {"widths": packed([6] * 5 + [7], "<i4"), "following": packed([0] * 37, "<i4")}),
    ("contexts.0.rows", packed([99], "<i4")),
    ("contexts.0.rows", packed([-1], "<i4")),
    ("contexts.0", {"rows": packed([ROWS], "<i4"), "before": packed([0], "<i4")}),
    ("contexts.0", {"rows": packed([0, 0], "<i4"), "before": packed([1, 1], "<i4")}),
    ("contexts.0", {"rows": packed([0, 0], "<i4"), "before": packed([1, 7], "<i4")}),
    ("contexts.0", {"rows": packed([], "<i4"), "before": packed([], "<i4")}),
    ("probabilities.length", 10**12),
    ("probabilities.length", True),
    ("probabilities.packed", "no base64!"),
    ("probabilities.packed", base64.b64encode(b"no zlib").decode()),
    ("probabilities.packed", base64.b64encode(zlib.compress(bytes(10**6))).decode()),
    ("sizes", packed([1.0], "<f8")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_file_with_one_part_that_is_wrong_is_refused(
    document: dict[str, Any], tmp_path: Path, name: str, value: Any
) -> None:
    (tmp_path / "model.json").write_text(damaged(document, name, value))
    with pytest.raises(pv.InvalidSystemError, match=r"model\.json: "):
        pv.load_model(tmp_path / "model.json")


@pytest.mark.parametrize("bad", [-0.5, 2.0, float("nan"), float("inf")])
@pytest.mark.parametrize("part", ["probabilities", "sizes"])
def test_numbers_that_are_no_probabilities_are_refused(document: dict[str, Any], part: str, bad: float) -> None:
    content = zlib.decompress(base64.b64decode(document[part]["packed"]))
    values = np.frombuffer(content, dtype="<f8").copy()
    values[len(values) // 2] = bad
    text = damaged(document, part, packed(values, "<f8"))
    if part == "sizes" and bad == 2.0:
        assert pv.PrivateSequences.from_json(text).order
        return
    with pytest.raises(pv.InvalidSystemError, match="damaged"):
        pv.PrivateSequences.from_json(text)


def test_no_damage_of_bytes_makes_anything_but_an_error_or_a_model(document: dict[str, Any], tmp_path: Path) -> None:
    """Bytes changed, cut off or doubled: never another error, never a loop outside of its arrays."""
    text, draw, refused = json.dumps(document).encode(), random.Random(9), 0
    for _ in range(300):
        spoiled = bytearray(text)
        for _ in range(draw.randrange(1, 4)):
            place = draw.randrange(len(spoiled))
            kind = draw.randrange(3)
            if kind == 0:
                spoiled[place] = draw.randrange(256)
            elif kind == 1:
                del spoiled[place : place + draw.randrange(1, 200)]
            else:
                spoiled[place:place] = spoiled[place : place + draw.randrange(1, 50)]
        (tmp_path / "model.json").write_bytes(spoiled)
        try:
            model = pv.load_model(tmp_path / "model.json")
        except pv.InvalidSystemError:
            refused += 1
        else:
            assert isinstance(model, pv.PrivateSequences)
            assert len(model.synthesize(5)) == 5
    assert 200 < refused < 300
