"""The same users in the same rows, whatever the format is and however it spells them."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as some

import pathveil as pv
from pathveil import data
from pathveil.data.formats.users import shortest_form, users_of
from tests.data.files import LISTS, LONG, faithful
from tests.sizes import given_few_and_many

WORLD = pv.Alphabet("ab")

# Each line is one person, as JSON may spell it.
PEOPLE = [
    ["7", "7.0", "7e0", '"7"', '"\\u0037"', "70e-1", "0.7E+1"],
    ["0", "-0", "-0.0", '"0"', "0e5"],
    ["-2.5", "-2.50", '"-2.5"', "-25e-1"],
    ["9007199254740993", '"9007199254740993"'],
    ["9007199254740992", '"9007199254740992"'],
    ["true", '"true"'],
    ["false"],
    ['"True"'],
    ['"007"'],
    ['"+7"'],
    ['"7 "'],
    ['"an, o\\"ther"'],
    ['""'],
    ["123456789012345678901234567890", '"123456789012345678901234567890"'],
]
# The same where there are no types, or nothing but texts.
TEXTS = [sorted({one.strip('"') for one in person if "\\" not in one} - {""}) for person in PEOPLE]


def released(source: object, layout: data.Layout, output: Path) -> int:
    """How many words come out if each person may have one: how many people there are."""
    summary = data.privatize_file(source, layout, faithful(WORLD), output, user="who", max_words_per_user=1)  # type: ignore[arg-type]
    return summary.words_released


def test_json_lines(tmp_path: Path) -> None:
    lines = [f'{{"who": {one}, "route": ["a", "b"]}}\n' for person in PEOPLE for one in person]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    assert released(tmp_path / "in.jsonl", LISTS, tmp_path / "out.jsonl") == len(PEOPLE)
    long = [
        f'{{"who": {one}, "visit": "{i} {j}", "step": {step}, "page": "a"}}\n'
        for i, person in enumerate(PEOPLE)
        for j, one in enumerate(person)
        for step in (1, 2)
    ]
    (tmp_path / "long.jsonl").write_text("".join(long))
    assert released(tmp_path / "long.jsonl", LONG, tmp_path / "out-long.jsonl") == len(PEOPLE)


def test_a_case_whose_rows_spell_its_user_in_two_ways_has_one_user(tmp_path: Path) -> None:
    rows = [f'{{"who": {one}, "visit": 1, "step": {i}, "page": "a"}}\n' for i, one in enumerate(PEOPLE[0])]
    (tmp_path / "in.jsonl").write_text("".join(rows))
    assert released(tmp_path / "in.jsonl", LONG, tmp_path / "out.jsonl") == 1


def test_csv_and_text_columns_of_parquet(tmp_path: Path) -> None:
    people = [person for person in TEXTS if person]
    spelt = [one for person in people for one in person]
    quoted = ['"' + one.replace('"', '""') + '"' for one in spelt]
    (tmp_path / "in.csv").write_text("route,who\n" + "".join(f"a b,{one}\n" for one in quoted))
    assert released(tmp_path / "in.csv", data.DelimitedColumn("route"), tmp_path / "out.csv") == len(people)
    for i, kind in enumerate([pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]):
        pq.write_table(
            pa.table({"route": [["a"]] * len(spelt), "who": pa.array(spelt).cast(kind)}), tmp_path / f"{i}.parquet"
        )
        assert released(tmp_path / f"{i}.parquet", LISTS, tmp_path / f"out{i}.parquet") == len(people)


def test_event_logs(tmp_path: Path) -> None:
    people = [person for person in TEXTS if person and '"' not in person[0]]
    traces = [
        f'<trace><{"string" if i % 2 else "id"} key="who" value="{one}"/>'
        '<event><string key="concept:name" value="a"/></event></trace>'
        for person in people
        for i, one in enumerate(person)
    ]
    (tmp_path / "in.xes").write_text(f"<log>{''.join(traces)}</log>")
    assert released(tmp_path / "in.xes", data.EventLog(), tmp_path / "out.xes") == len(people)


def test_one_person_in_parquet_columns_of_every_type(tmp_path: Path) -> None:
    columns = [
        pa.array([7], pa.int8()),
        pa.array([7], pa.uint64()),
        pa.array([7.0], pa.float32()),
        pa.array([7.0]),
        pa.array([Decimal("7.00")]),
        pa.array([Decimal(7)], pa.decimal128(38, 10)),
        pa.array(["7"]),
        pa.array(["7.0"]),
    ]
    for i, column in enumerate(columns):
        pq.write_table(pa.table({"route": [["a"]], "who": column}), tmp_path / f"in{i}.parquet")
    assert released(tmp_path / "in*.parquet", LISTS, tmp_path / "out.parquet") == 1


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (pa.array([0.1, None, -0.0, 1e22, 5e-324], pa.float64()), ["0.1", None, "0", "1" + "0" * 22]),
        (pa.array([0.1, 16777216], pa.float32()), ["0.1", "16777216"]),
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array([2**64 - 1, None], pa.uint64()), ["18446744073709551615", None]),
        (pa.array([Decimal("-1234567890123456789012345678.90")]), ["-1234567890123456789012345678.9"]),
        (pa.array([datetime.date(2024, 12, 31)]), ["2024-12-31"]),
        (pa.nulls(2), [None, None]),
        (pa.array(["1e999999999", "1e9999999999999999999", "é"]), ["1e999999999", "1e9999999999999999999", "é"]),
    ],
)
def test_names_of_typed_values(values: pa.Array, names: list[str | None]) -> None:
    found = users_of(values, "who", are_json=False)
    assert found.names.to_pylist()[: len(names)] == names
    assert not found.problems


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.0, float("nan")]),
        pa.array([1.0, float("inf")]),
        pa.array([1.0, -float("inf")], pa.float32()),
        pa.array(["x", None]),
    ],
)
def test_a_value_that_is_nobody_is_refused_by_row(column: pa.Array, tmp_path: Path) -> None:
    pq.write_table(pa.table({"route": [["a"], ["b"]], "who": column}), tmp_path / "in.parquet")
    with pytest.raises(pv.DataFileError, match=r"in.parquet, row 2, .*user"):
        released(tmp_path / "in.parquet", LISTS, tmp_path / "out.parquet")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"x"]),
        pa.array([[1]]),
        pa.array([{"a": 1}]),
        pa.array([datetime.datetime(2024, 1, 1)]),
        pa.array([datetime.time(1)]),
    ],
)
def test_a_type_that_names_nobody_is_refused(column: pa.Array, tmp_path: Path) -> None:
    pq.write_table(pa.table({"route": [["a"]], "who": column}), tmp_path / "in.parquet")
    with pytest.raises(pv.DataFileError, match=r"in.parquet, column 'who', row 1 .*: a user is a text"):
        released(tmp_path / "in.parquet", LISTS, tmp_path / "out.parquet")


@pytest.mark.parametrize("value", ["null", "[7]", '{"a": 1, "b": 2}', "{}"])
def test_json_that_is_nobody_is_refused_by_row_or_left_out(value: str, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(f'{{"who": 1, "route": ["a"]}}\n{{"who": {value}, "route": ["a"]}}\n')
    with pytest.raises(pv.DataFileError, match=r"in.jsonl, row 2, .*user"):
        released(tmp_path / "in.jsonl", LISTS, tmp_path / "out.jsonl")
    rows = [f'{{"who": {one}, "visit": {i}, "step": 1, "page": "a"}}\n' for i, one in enumerate(["1", value])]
    (tmp_path / "long.jsonl").write_text("".join(rows))
    with pytest.raises(pv.DataFileError, match=r"long.jsonl, row 2, .*user"):
        released(tmp_path / "long.jsonl", LONG, tmp_path / "out.jsonl")
    summary = data.privatize_file(
        tmp_path / "in.jsonl",
        LISTS,
        faithful(WORLD),
        tmp_path / "out.jsonl",
        user="who",
        max_words_per_user=1,
        on_bad_row="skip",
    )
    assert (summary.words_released, summary.words_skipped) == (1, 1)


@some.composite
def numbers(draw: some.DrawFn) -> str:
    whole = draw(some.from_regex(r"(0|[1-9][0-9]{0,12})", fullmatch=True))
    fraction = draw(some.from_regex(r"(\.[0-9]{1,12})?", fullmatch=True))
    power = draw(some.from_regex(r"([eE][+-]?[0-9]{1,3})?", fullmatch=True))
    return draw(some.sampled_from(["", "-"])) + whole + fraction + power


def value_of(text: str) -> Fraction:
    """What a number is worth; forms with a power of ten of their own included."""
    mantissa, _, power = text.lower().partition("e")
    return Fraction(mantissa) * Fraction(10) ** int(power or 0)


@given_few_and_many(40, 100, one=numbers(), other=numbers(), shift=some.integers(-30, 30))
def test_numbers_have_the_same_name_where_they_are_equal_and_nowhere_else(one: str, other: str, shift: int) -> None:
    assert value_of(shortest_form(one)) == value_of(one)
    assert shortest_form(shortest_form(one)) == shortest_form(one)
    assert (shortest_form(one) == shortest_form(other)) == (value_of(one) == value_of(other))
    mantissa, _, power = one.lower().partition("e")
    moved = format(Decimal(mantissa).scaleb(-shift), "f") + f"e{int(power or 0) + shift}"
    assert shortest_form(moved) == shortest_form(one)


@given(some.text().filter(lambda text: not text.lstrip("-")[:1].isdecimal()))
def test_other_texts_stay_what_they_are(text: str) -> None:
    assert shortest_form(text) == text


@pytest.mark.parametrize("number", ["9007199254740993.0", "9007199254740993e0", "0.1234567890123456789012"])
def test_numbers_that_a_reader_of_json_rounds_name_nobody(tmp_path, number):
    """Otherwise one person, written as a number and as a text, would be two."""
    path = tmp_path / "words.jsonl"
    path.write_text(f'{{"who": {number}, "word": ["a"]}}\n{{"who": "{number}", "word": ["a"]}}\n')
    mechanism = pv.CertifiedExponential(pv.Alphabet("ab"), epsilon=1.0)
    with pytest.raises(pv.DataFileError, match="more than 15 digits"):
        data.privatize_file(
            path, data.ListColumn("word"), mechanism, tmp_path / "out.jsonl", user="who", max_words_per_user=1
        )
