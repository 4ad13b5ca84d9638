"""Words of five persons in a file of every layout; and words as codes, counted one by one."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pathveil import data
from pathveil.models.sequences import CodedWords
from tests.data.files import ARROWS, LISTS, LONG, write_csv, write_json_lines, write_xes

STATES = "abcd"
# Word i belongs to person i // 3 of 5; each person has one word of each length from 2 to 4, in that person's letter.
WORDS = [[letter] * length for letter in "abcda" for length in (2, 3, 4)]
USERS = [i // 3 + 1 for i in range(15)]
LAYOUTS = {"csv": ARROWS, "parquet": LISTS, "jsonl": LISTS, "long.csv": LONG, "xes": data.EventLog()}


def written(folder: Path, kind: str, words: list[list[str]] = WORDS, users: list[Any] = USERS) -> Path:
    path = folder / f"in.{kind}"
    both = list(zip(words, users, strict=True))
    if kind == "csv":
        write_csv(path, [["who", "route"], *([who, " > ".join(word)] for word, who in both)])
    elif kind == "parquet":
        pq.write_table(pa.table({"who": users, "route": words}), path)
    elif kind == "jsonl":
        write_json_lines(path, [{"who": who, "route": word} for word, who in both])
    elif kind == "long.csv":
        rows = [[f"case {i}", j, x, who] for i, (word, who) in enumerate(both) for j, x in enumerate(word)]
        write_csv(path, [["visit", "step", "page", "who"], *sorted(rows, key=lambda row: (row[1], row[0]))])
    else:
        # Three traces in a row are one person's, as in the other files.
        write_xes(path, words, '<string key="who" value="{i}"/>')
        text = path.read_text()
        for i, who in reversed(list(enumerate(users))):
            text = text.replace(f'key="who" value="{i}"', f'key="who" value="P{who}"')
        path.write_text(text)
    return path


def as_counter(words: CodedWords) -> dict[tuple[int, ...], int]:
    """{word: how often}, in the order in which they stand."""
    places = zip(pairwise(words.offsets.tolist()), words.times.tolist(), strict=True)
    return {tuple(words.values[a:b].tolist()): times for (a, b), times in places}
