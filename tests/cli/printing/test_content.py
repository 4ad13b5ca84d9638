"""Under a ledger, whoever may run a command but not read the input learns the place and the kind of a problem only."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pathveil.ledger.ledger import Ledger
from pathveil.privacy.units import Symbols, Transition
from tests.sizes import small_and_large

SECRETS = ["Zebrafinch", "Quokkaville", "Wombatoid"]
# Parts of a secret are secret, too.
FRAGMENTS = {secret[i : i + 5].lower() for secret in SECRETS for i in range(len(secret) - 4)}
BUDGET = "--epsilon 1 --ledger budget.db --output out{} --overwrite"


def leaks(text: str) -> list[str]:
    return sorted(fragment for fragment in FRAGMENTS if fragment in text.lower())


@pytest.fixture(autouse=True)
def prepared(folder: Path) -> Path:
    """Public symbols are a, b and c; the sensitive files have others, and secrets in other columns."""
    (folder / "abc.txt").write_text("a\nb\nc\n")
    (folder / "roads.csv").write_text("from,to\na,b\nb,c\n")
    (folder / "support.csv").write_text("from,to\na,b\nb,a\nb,c\nc,a\n")
    Ledger.create(folder / "budget.db", epsilon=1e9, delta=0.1, unit=Symbols(1))
    Ledger.create(folder / "pairs.db", epsilon=1e9, delta=0.1, unit=Transition())
    return folder


def parquet(**columns: object) -> bytes:
    made = io.BytesIO()
    pq.write_table(pa.table(columns), made)
    return made.getvalue()


def xes(symbol: str, who: str) -> bytes:
    trace = f'<trace><string key="who" value="{who}"/><event><string key="concept:name" value="{symbol}"/></event>'
    return f"<log>{trace}</trace></log>".encode()


Z, Q, W = SECRETS
TEXT = "privatize in.txt --alphabet abc.txt " + BUDGET.format(".txt")
CSV = "privatize in.csv --column route --alphabet abc.txt " + BUDGET.format(".csv")
LONG = "privatize in.csv --case visit --order step --symbol page --alphabet abc.txt " + BUDGET.format(".csv")
LONG_JSON = LONG.replace("in.csv", "in.jsonl").replace("out.csv", "out.jsonl")
JSON = "privatize in.jsonl --column route --alphabet abc.txt " + BUDGET.format(".jsonl")
PARQUET = "privatize in.parquet --column route --alphabet abc.txt " + BUDGET.format(".parquet")
XES = "privatize in.xes --alphabet abc.txt " + BUDGET.format(".xes")
PAIRS = "model in.csv --from x --to y --states abc.txt --delta 1e-6 " + BUDGET.format(".json").replace(
    "budget", "pairs"
)
WORDS = "model in.txt --unit transition --states abc.txt --delta 1e-6 " + BUDGET.format(".json")
LIMIT = " --user who --max-words-per-user 1"
EDIT = " --distance edit --lengths 1:2"

CASES: dict[str, tuple[str, bytes]] = {
    "an unknown symbol in a text": (TEXT, f"a b\na {Z}\n".encode()),
    "an unknown symbol in CSV": (CSV, f"route,who\na {Z},{Q}\n".encode()),
    "an unknown symbol in JSON": (JSON, json.dumps({"route": ["a", Z]}).encode()),
    "an unknown symbol in Parquet": (PARQUET, parquet(route=[["a", Z]])),
    "an unknown symbol in XES": (XES, xes(Z, Q)),
    "an unknown symbol in a long table": (LONG, f"visit,step,page\n{Z},1,a\n{Z},2,{Q}\n".encode()),
    "equal steps": (LONG, f"visit,step,page\n{Z},1,a\n{Z},1,b\n".encode()),
    "steps of two kinds": (LONG, f"visit,step,page\n{Z},1,a\n{Z},{Q},b\n{W},2,a\n".encode()),
    "no case": (LONG, f"visit,step,page\n,1,a\n{Z},1,{Q}\n".encode()),
    "no header": (CSV, f"{Z},{Q}\n{W},a\n".encode()),
    "no such kept column": (CSV + " --keep nothing", f"route,{Z}\na,b\n".encode()),
    "too many values": (CSV, f"route,who\na,b,{Z},{Q}\n".encode()),
    "an open quote": (CSV, f'route,who\na,"{Z}\n{Q}'.encode()),
    "not UTF-8 in CSV": (CSV, b"route,who\na," + Z.encode() + b"\xff\xfe\n"),
    "not UTF-8 in the header": (CSV, Z.encode() + b"\xff,route\n"),
    "a zero byte": (CSV, b"route,who\na," + Z.encode() + b"\0\n"),
    "not UTF-8 in a text": (TEXT, b"a b\n" + Z.encode() + b"\xff\n"),
    "no gzip": (TEXT.replace("in.txt", "in.txt.gz"), Z.encode()),
    "a cut gzip": (TEXT.replace("in.txt", "in.txt.gz"), gzip.compress(f"a b {Z}\n".encode() * 99)[:-9]),
    "broken JSON": (JSON, f'{{"route": ["a"]}}\n{{"route": ["{Z}", {Q}\n'.encode()),
    "JSON of another shape": (JSON, json.dumps({"route": {Z: Q}}).encode()),
    "a number for a list": (JSON, json.dumps({"route": Z}).encode()),
    "JSON that is no object": (JSON, json.dumps([Z, Q]).encode()),
    "half a pair of surrogates": (JSON, f'{{"route": ["a\\ud800{Z}"]}}'.encode()),
    "half a pair in a kept column": (JSON + " --keep who", f'{{"route": ["a"], "who": "\\ud800{Z}"}}'.encode()),
    "a list as user": (JSON + LIMIT, json.dumps({"route": ["a"], "who": [Z]}).encode()),
    "a case of two users": (
        LONG_JSON + LIMIT,
        "".join(
            json.dumps({"visit": W, "step": step, "page": "a", "who": who}) + "\n" for step, who in enumerate((Z, Q))
        ).encode(),
    ),
    "no Parquet": (PARQUET, Z.encode() * 20),
    "a cut Parquet file": (PARQUET, parquet(route=[["a", Z]] * 50)[:-20]),
    "structures in Parquet": (PARQUET, parquet(route=[{Z: Q}])),
    "columns of Parquet": (PARQUET, parquet(**{Z: [["a"]]})),
    "users that are bytes": (PARQUET + LIMIT, parquet(route=[["a"]], who=[Z.encode()])),
    "numbers that are no symbols": (PARQUET, parquet(route=[["a"], [Z]], who=[1, 2])),
    "XML that is cut off": (XES, xes(Z, Q)[:-12]),
    "an unknown encoding": (XES, f'<?xml version="1.0" encoding="{Z}"?><log></log>'.encode()),
    "another root": (XES, f"<{Z}><trace/></{Z}>".encode()),
    "a document type": (XES, f'<!DOCTYPE log [<!ENTITY x "{Z}">]><log>&x;</log>'.encode()),
    "an unknown state": (PAIRS, f"x,y\na,b\na,{Z}\n".encode()),
    "pairs without a header": (PAIRS, f"{Z},{Q}\na,b\n".encode()),
    "a word for a model": (WORDS, f"a b {Z}\n".encode()),
    "an infeasible word": (TEXT.replace("--alphabet abc.txt", "--edges roads.csv"), b"a c\n"),
    "a word that is too long": (TEXT + EDIT, b"a a a\n"),
    "nothing is left": (TEXT + " --on-bad-row skip", f"{Z}\n{Q}\n".encode()),
    "some rows are left out": (TEXT + " --on-bad-row skip", f"a b\n{Z}\n{Q}\n".encode()),
    "some pairs are left out": (PAIRS + " --on-bad-row skip", f"x,y\na,b\n{Z},{Q}\n".encode()),
    "all is well": (CSV + LIMIT, f"route,who\na b,{Z}\na,{Z}\n".encode()),
}


def source_of(line: str) -> Path:
    return Path(line.split()[1])


@pytest.mark.parametrize("case", CASES)
def test_no_message_quotes_the_input(run, case: str) -> None:
    line, content = CASES[case]
    source_of(line).write_bytes(content)
    for more in ("", " --json"):
        ran = run(line + more)
        assert ran.code in (0, 1)
        assert not leaks(ran.out + ran.err), ran
        assert "Traceback" not in ran.err
        assert "bug in PathVeil" not in ran.err
        if ran.code == 1:
            assert source_of(line).name in ran.err  # the place, at least the file
            assert "--curator" in ran.err


QUOTED = [case for case in CASES if case.startswith(("an unknown s", "some", "no header", "a case of"))]


@pytest.mark.parametrize("case", QUOTED)
def test_the_curator_sees_what_is_wrong_and_so_does_everyone_without_a_ledger(run, case: str) -> None:
    """The negative control: these secrets are in the whole messages."""
    line, content = CASES[case]
    source_of(line).write_bytes(content)
    for allowed in (line + " --curator", re.sub("--ledger [a-z]+.db ", "", line)):
        ran = run(allowed)
        assert leaks(ran.out + ran.err), ran


def test_the_place_and_the_kind_are_shown(run) -> None:
    def said(case: str) -> str:
        line, content = CASES[case]
        source_of(line).write_bytes(content)
        return run(line).err

    assert "in.txt, line 2, position 2: the symbol is not one of the public system's" in said(
        "an unknown symbol in a text"
    )
    assert "in.csv, row 2, column 'page', position 2: the symbol" in said("an unknown symbol in a long table")
    assert "in.csv, line 2:" in said("too many values")
    assert "in.jsonl, line 2: this is not JSON" in said("broken JSON")
    assert "in.csv: there is no column 'route'" in said("no header")
    assert "in.csv, row 2, column 'y': the state is not one of the public ones" in said("an unknown state")
    assert "in.txt, line 1: the public system could not have produced this word" in said("an infeasible word")


def test_figures_of_the_data_are_left_out(run) -> None:
    Path("in.txt").write_text("a b\n" * 777 + "x\n" * 55)
    for more in ("", " --json"):
        ran = run(TEXT + " --on-bad-row skip" + more)
        assert ran.code == 0
        assert not any(number in ran.out + ran.err for number in ("777", "1,554", "1554", "55"))
    assert json.loads(ran.out)["for_the_curator_only"] == {}
    ran = run(TEXT + " --on-bad-row skip --json --curator")
    assert json.loads(ran.out)["for_the_curator_only"]["words_skipped"] == 55


def test_other_errors_are_shown_in_full(run) -> None:
    Path("in.txt").write_text("a b\n")
    assert "there is no such file" in run(TEXT.replace("in.txt", "elsewhere.txt")).err
    assert "requested:" in run(TEXT.replace("--epsilon 1", "--epsilon 1e10")).err
    assert run(TEXT).code == 0
    assert "exists already" in run(TEXT.replace(" --overwrite", "")).err
    assert "does not exist. Make it first" in run(TEXT.replace("out.txt", "none/out.txt")).err


def test_how_long_a_word_is_is_not_told(run) -> None:
    Path("in.txt").write_text("a b\n" + "a b c " * 111 + "\n")
    line = TEXT.replace("--alphabet abc.txt", "--edges support.csv") + " --max-length 4"
    ran = run(line)
    assert ran.code == 2
    assert "longer than --max-length 4" in ran.err
    assert "333" not in ran.err
    assert "333" in run(line + " --curator").err


def test_a_transition_outside_the_support_is_not_quoted(run) -> None:
    Path("in.txt").write_text("a b c a b a\n" + "a c\n" * 7)
    line = WORDS + " --support support.csv"
    ran = run(line)
    assert ran.code == 1
    assert "7 times" not in ran.err
    assert "'c'" not in ran.err
    assert "7 times" in run(line + " --curator").err


def test_a_stream_does_not_quote_what_it_cannot_use(programs) -> None:
    line = "stream --alphabet abc.txt --epsilon 1 --ledger budget.db"
    for more, shown in (("", False), (" --curator", True)):
        done = programs.run(*(line + more).split(), input=f"a\n{Z}\n".encode())
        assert done.returncode == 1
        assert b"standard input, line 2" in done.stderr
        assert bool(leaks(done.stderr.decode())) == shown


BASES: dict[str, tuple[str, bytes]] = {
    "text": (TEXT, f"a b\nb c {Z}\n{Q} a\n".encode()),
    "csv": (CSV + LIMIT, f'route,who\na b,{Z}\n"a, b",{Q}\nc {W},x\n'.encode()),
    "long": (LONG + " --keep who", f"visit,step,page,who\n{Z},1,a,{Q}\n{Z},2,b,{Q}\n{W},1,c,x\n".encode()),
    "jsonl": (
        JSON + LIMIT,
        "".join(json.dumps({"route": ["a", w], "who": w}) + "\n" for w in ("b", Z, Q, W)).encode(),
    ),
    "parquet": (PARQUET + LIMIT, parquet(route=[["a", "b"], ["a", Z], [Q]], who=[Z, Q, W])),
    "xes": (XES + LIMIT, xes("a", Z).replace(b"</log>", xes(Q, W)[5:])),
    "pairs": (PAIRS, f"x,y\na,b\n{Z},{Q}\nb,{W}\n".encode()),
    "model": (WORDS, f"a b\nb c {Z}\n".encode()),
}


def damaged(content: bytes, chance: random.Random) -> bytes:
    """A few bytes removed, repeated, changed or put in."""
    for _ in range(chance.randint(0, 3)):
        place = chance.randrange(len(content) + 1)
        size = chance.choice([0, 1, 1, 4, 30])
        new = chance.choice(
            [
                b"",
                b'"',
                b"\n",
                b",",
                b"\xff",
                b"\0",
                b"<",
                b"&",
                b"{",
                b"]",
                b"\\u",
                content[place : place + 20],
                b"NaN",
            ]
        )
        content = content[:place] + new + content[place + size :]
    return content


@small_and_large("number", 6, 40)
@pytest.mark.parametrize("base", BASES)
def test_no_damaged_file_makes_a_message_quote_it(run, base: str, number: int) -> None:
    chance = random.Random(14)
    line, content = BASES[base]
    codes = set()
    for _ in range(number):
        source_of(line).write_bytes(damaged(content, chance))
        ran = run(line + chance.choice(["", " --json", " --on-bad-row skip", " --on-bad-row skip --json"]))
        codes.add(ran.code)
        assert not leaks(ran.out + ran.err), (source_of(line).read_bytes(), ran)
        assert "bug in PathVeil" not in ran.err, (source_of(line).read_bytes(), ran)
    assert 1 in codes


def test_a_bug_is_told_by_its_place_and_not_by_its_message(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object, **_options: object) -> int:
        raise KeyError(Z)

    monkeypatch.setattr("pathveil.data.reading.check_words", broken)
    Path("in.txt").write_text("a b\n")
    ran = run(TEXT)
    assert ran.code == 1
    assert "this is a bug in PathVeil: KeyError in test_content.py" in ran.err
    assert not leaks(ran.err)
    with pytest.raises(KeyError):
        run(TEXT + " --curator")
