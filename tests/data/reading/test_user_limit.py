"""At most so many words a user, chosen at random."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import pathveil as pv
from pathveil import data
from tests.data.files import LISTS, LONG, faithful, read_csv, read_json_lines, write_csv, write_json_lines
from tests.statistics import FALSE_ALARM, chi_square_p_value

WORLD = pv.Alphabet("abcd")


def release(folder: Path, most: int) -> tuple[Counter[str], data.CuratorSummary]:
    rows = [{"who": who, "route": [symbol]} for who, symbol in zip("uuuuvvw", "abcdabc", strict=True)]
    write_json_lines(folder / "in.jsonl", rows)  # type: ignore[arg-type]
    output = folder / "out.jsonl"
    summary = data.privatize_file(
        folder / "in.jsonl",
        LISTS,
        faithful(WORLD),
        output,
        user="who",
        max_words_per_user=most,
        keep=["who"],
        overwrite=True,
    )
    return Counter(str(row["who"]) for row in read_json_lines(output)), summary


@pytest.mark.parametrize("most", [1, 2, 3, 4, 9])
def test_no_user_has_more_words_than_declared_and_none_is_lost_below(most: int, tmp_path: Path) -> None:
    counts, summary = release(tmp_path, most)
    assert counts == {"u": min(most, 4), "v": min(most, 2), "w": 1}
    assert summary.largest_words_per_user == 4
    assert summary.words_over_limit == 7 - sum(counts.values())


def test_the_manifest_promises_for_the_declared_number_and_does_not_know_the_measured_one(tmp_path: Path) -> None:
    release(tmp_path, 3)
    text = (tmp_path / "out.jsonl.manifest.json").read_text()
    assert json.loads(text)["per_user"] | {"unit": ""} == {"max_words": 3, "epsilon": 1800.0, "delta": 0.0, "unit": ""}
    assert "4" not in text.replace(json.loads(text)["system"]["fingerprint"], "").replace("4 symbols", "")


def test_the_choice_among_a_user_s_words_is_uniform(tmp_path: Path) -> None:
    # False-alarm probability 1e-6. Control: a choice that always takes the first words fails the same test.
    users = range(600)
    write_json_lines(tmp_path / "in.jsonl", [{"who": who, "route": [symbol]} for symbol in "abcd" for who in users])
    data.privatize_file(
        tmp_path / "in.jsonl",
        LISTS,
        faithful(WORLD),
        tmp_path / "out.jsonl",
        user="who",
        max_words_per_user=2,
        keep=["who"],
        rng=pv.insecure_seed(21),
    )
    chosen = dict.fromkeys(users, "")
    for row in read_json_lines(tmp_path / "out.jsonl"):
        chosen[row["who"]] += row["route"][0]  # type: ignore[index]
    law = dict.fromkeys(("ab", "ac", "ad", "bc", "bd", "cd"), 1 / 6)
    assert chi_square_p_value(["".join(sorted(pair)) for pair in chosen.values()], law) > FALSE_ALARM
    assert chi_square_p_value(["ab"] * len(users), law) < FALSE_ALARM


def test_bad_words_do_not_count_for_their_user(tmp_path: Path) -> None:
    rows = [{"who": "u", "route": ["z"]}] * 20 + [{"who": "u", "route": ["a"]}, {"route": ["b"]}]
    write_json_lines(tmp_path / "in.jsonl", rows)  # type: ignore[arg-type]
    summary = data.privatize_file(
        tmp_path / "in.jsonl",
        LISTS,
        faithful(WORLD),
        tmp_path / "out.jsonl",
        user="who",
        max_words_per_user=1,
        on_bad_row="skip",
    )
    assert read_json_lines(tmp_path / "out.jsonl") == [{"route": ["a"]}]
    assert summary.words_skipped == 21  # a word without a user is bad as well


def test_a_case_of_two_users_is_refused(tmp_path: Path) -> None:
    rows = [["visit", "step", "page", "who"], ["v", 1, "a", "u"], ["v", 2, "b", "w"], ["x", 1, "c", "u"]]
    write_csv(tmp_path / "in.csv", rows)
    options = {"user": "who", "max_words_per_user": 1}
    with pytest.raises(pv.DataFileError, match="visit 'v': its rows have different values of 'who'"):
        data.privatize_file(tmp_path / "in.csv", LONG, faithful(WORLD), tmp_path / "out.csv", **options)  # type: ignore[arg-type]
    data.privatize_file(
        tmp_path / "in.csv",
        LONG,
        faithful(WORLD),
        tmp_path / "out.csv",
        user="who",
        max_words_per_user=1,
        on_bad_row="skip",
    )
    assert [row["page"] for row in read_csv(tmp_path / "out.csv")] == ["c"]


@pytest.mark.parametrize("most", [0, -1, 1.5, True, None])
def test_a_limit_that_is_no_count_is_refused(most: object, tmp_path: Path) -> None:
    with pytest.raises(pv.InvalidParameterError, match="max_words_per_user"):
        data.privatize_file(
            tmp_path / "in.csv",
            LONG,
            faithful(WORLD),
            tmp_path / "out.csv",
            user="who",
            max_words_per_user=most,  # type: ignore[arg-type]
        )
