"""Command lines for the fuzzing: right ones, and ones with options that nobody should give."""

from __future__ import annotations

import json
import os
import tempfile
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from pathveil.cli.app import main
from tests.cli.fuzz_files import DAMAGE, PAIRS, TABLES, TEXTS, damaged, input_file
from tests.cli.promises import Case

_CHAIN = '{"moves": [["p", "a", "q"], ["q", "b", "p"], ["q", "c", "q"]], "initial": "p"}'
MODEL = ("model", "in.csv", "--from", "o", "--to", "d", "--states", "letters.txt")


@cache
def public_files() -> dict[str, bytes]:
    """Public systems, models, and ledgers with ε = 5 to spend, made once by the command itself."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "letters.txt").write_text("a\nb\nc\n")
        (folder / "edges.csv").write_text("from,to\na,a\na,b\nb,c\nc,a\nb,b\nc,b\n")
        (folder / "automaton.csv").write_text("from,symbol,to\n,,p\np,a,q\nq,b,p\nq,c,q\n")
        (folder / "automaton.json").write_text(_CHAIN)
        (folder / "in.csv").write_text("o,d\na,b\nb,c\nc,a\na,a\n")
        (folder / "words.txt").write_text("a b c\nb c\nc\n")
        os.chdir(folder)
        try:
            assert main([*MODEL, "--epsilon", "1", "--output", "model.json", "-q"]) == 0
            line = "model words.txt --unit word --max-length 3 --states letters.txt --epsilon 9 --output split.json -q"
            assert main([*line.split(), "--split", "transitions=0.6,first=0.2,lengths=0.2"]) == 0
            document = json.loads((folder / "model.json").read_text())
            del document["model"], document["guarantee"]
            (folder / "chain.json").write_text(json.dumps(document))
            budget = ["--epsilon", "5", "--delta", "0.01", "--unit"]
            assert main(["ledger", "init", "budget.db", *budget, "symbols", "--adjacency", "1"]) == 0
            assert main(["ledger", "init", "pairs.db", *budget, "transition"]) == 0
        finally:
            os.chdir(before)
        (folder / "junk.db").write_bytes(b"SQLite format 3\0" + bytes(range(256)))
        (folder / "old.txt").write_text("an output that is there already\n")
        kept = "letters.txt edges.csv automaton.csv automaton.json model.json split.json chain.json "
        kept += "budget.db pairs.db junk.db old.txt"
        return {name: (folder / name).read_bytes() for name in kept.split()}


SYSTEMS = [
    ("--alphabet", "letters.txt"),
    ("--alphabet", "letters.txt"),
    ("--edges", "edges.csv"),
    ("--chain", "model.json"),
    ("--chain", "chain.json"),
    ("--automaton", "automaton.csv"),
    ("--automaton", "automaton.json"),
]
_LETTERS = ("--alphabet", "letters.txt")
_NUMBERS = ("nan", "inf", "-inf", "-1", "0", "1e999", "", "x", "0x1", "1_0_", "٣", "--")
_WHOLE = ("0", "-1", "1.5", "nan", "", "x", "1e3", "9" * 40)
_PATHS = (
    "nowhere/x",
    ".",
    "/",
    "",
    "..",
    "letters.txt/x",
    "x" * 300,
    "x" * 240,
    "in.csv",
    "budget.db",
    "old.txt",
    "~",
    "*",
)


def _each(option: str, values: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [(option, value) for value in values]


# With any of these a command that was right is wrong use.
WRONG_TO_PRIVATIZE: list[tuple[str, ...]] = [
    *_each("--epsilon", _NUMBERS[:8]),
    *_each("--adjacency", _WHOLE),
    *_each("--max-length", _WHOLE[:6]),
    *_each("--mechanism", ("", "best", "laplace", "Certified")),
    *_each("--on-infeasible", ("", "guess")),
    *_each("--on-bad-row", ("", "ignore")),
    *_each("--format", ("", "xls", "CSV")),
    ("--edges", "edges.csv"),
    ("--automaton", "automaton.csv", "--chain", "chain.json"),
    ("--user", "driver"),
    ("--max-words-per-user", "3"),
    *(("--user", "driver", *one) for one in _each("--max-words-per-user", (*_WHOLE[:6], "9" * 400))),
    ("--case", "w"),
    ("--order", "w"),
    ("--symbol", "s"),
    ("--keep", "w"),
    ("--keep", "day", "--keep", "day"),
    ("--resume",),
    ("--no-such-option",),
    ("--epsilon",),
    ("--output", "out.parquet"),
    ("--max-length", "3", "--mechanism", "online"),
]
# With these it may be right, wrong or impossible; the promises hold in any case.
ODD_FOR_PRIVATIZE: list[tuple[str, ...]] = [
    *_each("--epsilon", ("1e-300", "1e-9", "600", "5", "5.000000000000001", "1e308", "1e3", *_NUMBERS[8:])),
    *_each("--adjacency", ("2", "1000000000")),
    *_each("--max-length", ("1", "5", "200", "9" * 30)),
    *_each("--mechanism", ("certified", "online", "permute-and-flip", "exponential")),
    *_each("--on-infeasible", ("nearest", "refuse")),
    *_each("--on-bad-row", ("skip", "fail")),
    *_each("--format", ("csv", "jsonl", "parquet", "text", "xes")),
    *_each("--output", (*_PATHS, "out", "out.gz", "out.csv.zst", "sub/../out.csv", "./budget.db", "budget.db-wal")),
    *(("--overwrite", *one) for one in _each("--output", (*_PATHS, "./in.csv", "./budget.db", "budget.db-wal"))),
    *_each("--ledger", ("budget.db", "./budget.db", "junk.db", "none.db", "letters.txt", *_PATHS)),
    ("--ledger", "budget.db", "--user", "driver", "--max-words-per-user", "2"),
    ("--ledger", "budget.db", "--resume"),
    ("--ledger", "budget.db", "--ledger", "none.db"),
    *(("--user", user, "--max-words-per-user", most) for user in ("day", "w", "nobody", "") for most in ("1", "9")),
    ("--user", "driver", "--max-words-per-user", "1", "--epsilon", "600"),
    ("--user", "driver", "--max-words-per-user", "9" * 300),
    *_each("--keep", ("day", "driver", "nothing", "", "a,b", 'q"')),
    *_each("--separator", ("", " ", ">", "\t", "ab", ",", "\n", "\\", "é")),
    *_each("--column", ("", "W", "day", "driver", "'", '"', "*", "c0")),
    *_each("--alphabet", ("edges.csv", "none.txt", ".", "junk.db", "in.csv", "old.txt")),
    ("--keep-order",),
    ("--json",),
    ("--quiet",),
    ("--quiet", "--json"),
    ("--overwrite",),
    ("--help",),
    ("--",),
    ("in.csv",),
    ("in.csv", "none.csv"),
    ("-",),
    ("",),
]
WRONG_TO_MODEL: list[tuple[str, ...]] = [
    *_each("--epsilon", _NUMBERS[:8]),
    *_each("--delta", ("nan", "inf", "-1", "1", "2", "x", "")),
    *_each("--unit", ("", "user", "symbol", "word")),
    *_each("--mechanism", ("", "best")),
    ("--from", "o", "--column", "w"),
    ("--delta", "1e-6", "--mechanism", "laplace"),
    ("--mechanism", "dirichlet"),
    ("--max-length", "3"),
    ("--split", "transitions=1"),
    ("--resume",),
    ("--matrix", "out.json"),
    ("--matrix", "./out.json"),
    ("--matrix", "sub/../out.json"),
    ("--matrix", "out.json.manifest.json"),
    ("--states", "in.csv"),
    ("--support", "in.csv"),
]
ODD_FOR_MODEL: list[tuple[str, ...]] = [
    *_each("--epsilon", ("1e-300", "1e-9", "700", "5", "1e308", *_NUMBERS[8:])),
    *_each("--delta", ("1e-6", "0.5", "1e-300", "0.01", "0", "1e-320")),
    *_each("--mechanism", ("dirichlet", "gaussian", "laplace")),
    ("--delta", "1e-6", "--mechanism", "gaussian"),
    *_each("--matrix", ("matrix.csv", *_PATHS)),
    *(("--overwrite", *one) for one in _each("--matrix", ("in.csv", "budget.db", "letters.txt", "old.txt"))),
    *(("--overwrite", *one) for one in _each("--output", ("in.csv", "letters.txt", "old.txt", "budget.db"))),
    *_each("--output", _PATHS),
    *_each("--support", ("edges.csv", "letters.txt", "none.csv", "automaton.csv")),
    *_each("--states", ("edges.csv", "none.txt", ".", "junk.db")),
    *_each("--ledger", ("budget.db", "pairs.db", "junk.db", "none.db", *_PATHS)),
    ("--ledger", "pairs.db", "--resume"),
    *_each("--on-bad-row", ("skip",)),
    *_each("--from", ("", "O", "d")),
    *_each("--format", ("csv", "jsonl", "parquet", "text", "xes")),
    ("--json",),
    ("--quiet",),
    ("--help",),
]
WORD_UNITS: list[tuple[str, ...]] = [
    ("--unit", "transition"),
    ("--unit", "symbol"),
    ("--unit", "transition", "--delta", "1e-6"),
    ("--unit", "word", "--max-length", "4"),
    ("--unit", "word", "--max-length", "4", "--delta", "1e-6"),
    ("--unit", "word", "--max-length", "3", "--split", "transitions=0.6,first=0.2,lengths=0.2"),
    *(("--unit", "word", "--max-length", length) for length in ("0", "-1", "9" * 30, "200000", "x")),
    *(
        ("--unit", "word", "--max-length", "3", "--split", split)
        for split in ("", "transitions=nan,first=1", "transitions=1", "=", "first=-1,transitions=2", "a=1", "first=1")
    ),
    ("--unit", "user", "--max-length", "3"),
    ("--unit", "word", "--max-length", "3", "--neighbours", "add-remove"),
    *(
        ("--unit", "user", "--user", user, "--max-words-per-user", most, "--max-length", "3")
        for user, most in (
            ("driver", "2"),
            ("driver", "0"),
            ("driver", "9" * 30),
            ("w", "1"),
            ("nobody", "1"),
            ("", "1"),
        )
    ),
    (
        "--unit",
        "user",
        "--user",
        "driver",
        "--max-words-per-user",
        "1",
        "--max-length",
        "3",
        "--neighbours",
        "add-remove",
    ),
]


def every_damage_to_inputs() -> list[Case]:
    """Each kind of damage to each shape of a sensitive file."""
    whole = [["a", "b", "c"], ["b"], ["a", "a"]]
    cases = []
    for damage in DAMAGE.values():
        for shape in (*TABLES, *TEXTS, *PAIRS):
            command, public, output = "privatize", _LETTERS, f"out{Path(shape.name).suffix}"
            if shape in PAIRS:
                command, public, output = "model", ("--states", "letters.txt"), "out.json"
            line = (command, shape.name, *shape.options, *public, "--epsilon", "2", "--output", output)
            cases.append(Case(line, {shape.name: damage(shape.content(whole))}))
    return cases


def every_damage_to_public_files() -> list[Case]:
    """Each kind of damage to each kind of public system."""
    cases = []
    for damage in DAMAGE.values():
        for option, name in SYSTEMS[1:]:
            files: dict[str, bytes | None] = {name: damage(public_files()[name]), "in.txt": b"a b\na\n"}
            line = f"privatize in.txt {option} {name} --epsilon 2 --on-infeasible nearest --output out.txt"
            cases.append(Case(tuple(line.split()), files))
        cases.append(Case(("inspect", "split.json"), {"split.json": damage(public_files()["split.json"])}))
        cases.append(Case(("ledger", "show", "budget.db"), {"budget.db": damage(public_files()["budget.db"])}))
    return cases


@st.composite
def privatize_damaged(draw: st.DrawFn, texts: bool) -> Case:
    """Right options, and a file that may be damaged."""
    name, content, layout = draw(input_file(TEXTS if texts else TABLES, damage=True))
    same = "".join(Path(name).suffixes) or ".csv"
    ending = draw(st.sampled_from([*[same] * 4, ".xes", ".csv", ".parquet", ".jsonl", ".txt"]))
    options = ["--epsilon", draw(st.sampled_from(["2", "60"])), "--output", f"out{ending}"]
    options += draw(st.sampled_from([(), ("--ledger", "budget.db"), ("--ledger", "budget.db")]))
    options += draw(st.sampled_from([(), (), ("--on-bad-row", "skip"), ("--keep-order",)]))
    if not name.startswith("in.txt"):
        options += draw(
            st.sampled_from([(), (), ("--user", "driver", "--max-words-per-user", "2"), ("--keep", "driver")])
        )
    if Path(name).suffixes[:1] in ([], [".db"], [".gz"]):
        options += ["--format", draw(st.sampled_from(["csv", "text", "xes", "jsonl", "parquet"]))]
    return Case(("privatize", name, *layout, *draw(st.sampled_from(SYSTEMS)), *options), {name: content})


@st.composite
def privatize_sources(draw: st.DrawFn) -> Case:
    """Several files, folders, patterns and standard input, some of them damaged or not there at all."""
    _, content, _ = draw(input_file(TABLES[:1], damage=False))
    other = draw(st.one_of(st.just(content), damaged(content)))
    files: dict[str, bytes | None] = {
        "in/1.csv": content,
        "in/2.csv": other,
        "in/.hidden": b"\0",
        "empty": None,
        "a folder.csv": None,
        "odd [name]'s *.csv": content,
        "-dash.csv": content,
    }
    possible = ["in", "in/*.csv", "in/[12].csv", "in/1.csv", "in/2.csv", "empty", "empty/*", "none*.csv", "none.csv"]
    possible += ["a folder.csv", "odd [name]'s *.csv", "./-dash.csv", "-dash.csv", "-", "", "letters.txt", "in/../in"]
    sources = draw(st.lists(st.sampled_from(possible), min_size=1, max_size=3))
    options = draw(st.sampled_from([(), ("--format", "csv"), ("--ledger", "budget.db"), ("--overwrite",)]))
    output = draw(st.sampled_from(["out.csv", "out.csv", "in/out.csv", "in/1.csv", "empty/out.csv"]))
    line = ("privatize", *sources, "--column", "w", *_LETTERS, "--epsilon", "2", "--output", output, *options)
    return Case(line, files, draw(st.sampled_from([b"", content, other])))


_SHAPE = TABLES[0]


@st.composite
def privatize_options(draw: st.DrawFn, wrong: bool) -> Case:
    """A file that is right, and options that are wrong for certain, or odd."""
    _, content, layout = draw(input_file([_SHAPE], damage=False).filter(lambda file: file[0] == "in.csv"))
    line = ["privatize", "in.csv", *layout, *_LETTERS, "--epsilon", "2", "--output", "out.csv"]
    if wrong:
        line += draw(st.sampled_from(WRONG_TO_PRIVATIZE))
    else:
        line += draw(st.sampled_from([(), ("--ledger", "budget.db")]))
        line += draw(st.sampled_from([("--yes",), ("--yes",), ()]))
        for more in draw(st.lists(st.sampled_from(ODD_FOR_PRIVATIZE), min_size=1, max_size=3)):
            line += more
    return Case(tuple(line), {"in.csv": content})


@st.composite
def model(draw: st.DrawFn, kind: str) -> Case:
    """Models of damaged files, of files with wrong options, and of files with odd options."""
    damage = kind == "damaged" and draw(st.booleans())
    of_words = kind == "damaged" and draw(st.booleans())
    name, content, layout = draw(input_file([*TABLES, *TEXTS] if of_words else PAIRS, damage))
    if kind in ("wrong", "odd"):
        name, content, layout = "in.csv", b"o,d\na,b\nb,c\nc,a\na,a\n", PAIRS[0].options
    line = ["model", name, *layout, "--states", "letters.txt", "--epsilon", "2", "--output", "out.json"]
    if of_words:
        line += draw(st.sampled_from(WORD_UNITS))
    if kind == "damaged":
        book = "budget.db" if {"symbol", "word"} & set(line) else "pairs.db"
        line += draw(st.sampled_from([(), ("--ledger", book), ("--on-bad-row", "skip"), ("--delta", "1e-6")]))
    elif kind == "wrong":
        line += draw(st.sampled_from(WRONG_TO_MODEL))
    else:
        for more in draw(st.lists(st.sampled_from(ODD_FOR_MODEL), min_size=1, max_size=2)):
            line += more
    return Case(tuple(line), {name: content})


_COUNTS = ("1", "7", "0", "-1", "x", "1.5", "")
_LENGTHS = (*_WHOLE, "1", "4")


@st.composite
def public_commands(draw: st.DrawFn) -> Case:
    """`synthesize`, `inspect`, `plan`, `compare`: nothing sensitive is read, but they get the same treatment."""
    option, name = draw(st.sampled_from(SYSTEMS))
    if draw(st.integers(0, 3)):
        name = draw(st.sampled_from(["model.json", "split.json", "chain.json"]))
        option = "--chain"
    files: dict[str, bytes | None] = {}
    if draw(st.integers(0, 2)) == 0:
        files[name] = draw(damaged(public_files()[name]))
    command = draw(st.sampled_from(["synthesize", "synthesize", "inspect", "compare", "plan"]))
    line = [command]
    if command in ("inspect", "synthesize"):
        line += [draw(st.sampled_from([*[name] * 12, "none.json", "edges.csv", "."]))]
    else:
        length = draw(st.sampled_from([*["1", "3"] * 6, *_WHOLE[:6]]))
        line += [option, name, "--length", length, "--epsilon", draw(st.sampled_from([*["1"] * 20, *_NUMBERS]))]
    if command == "synthesize":
        outputs = ["out.csv", "out.txt", "out.jsonl.gz", "out.parquet", "out.xes"]
        output = draw(st.sampled_from([*outputs * 6, "out", *_PATHS]))
        line += ["--count", draw(st.sampled_from([*["1", "7"] * 8, *_COUNTS])), "--output", output]
        line += draw(st.sampled_from([*[("--length", "4")] * 12, (), *_each("--length", _LENGTHS)]))
        line += draw(st.sampled_from([(), (), (), *_each("--separator", ("", "a", ">"))]))
        line += draw(st.sampled_from([(), ("--overwrite",), ("--column", ""), ("--case", "c"), ("--json",)]))
    if command == "plan":
        line += draw(st.sampled_from([(), *_each("--target-error", ("nan", "0.5", "0", "1e-300", "x"))]))
        line += draw(st.sampled_from([(), *_each("--plot", ("nowhere/x.png", "x.bmp", "old.txt", "."))]))
    if command in ("plan", "compare"):
        line += draw(st.sampled_from([(), *_each("--adjacency", ("2", *_WHOLE)), ("--json",)]))
    return Case(tuple(line), files)


@st.composite
def stream(draw: st.DrawFn) -> Case:
    """Lines on standard input."""
    lines = draw(st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"d", b"a\r", b" a", b"\xff", b"\0", "ä".encode()])))
    option, name = draw(st.sampled_from(SYSTEMS))
    line = ["stream", option, name, "--epsilon", draw(st.sampled_from([*["2"] * 30, "6", *_NUMBERS]))]
    ledgers = [(), ("--ledger", "budget.db"), ("--ledger", "junk.db"), ("--ledger", "none.db")]
    line += draw(st.sampled_from(ledgers[:2] * 3 + ledgers))
    line += draw(
        st.sampled_from(
            [(), (), (), ("--quiet",), ("--quiet",), ("--adjacency", "0"), ("--adjacency", "2"), ("--json",)]
        )
    )
    return Case(tuple(line), {}, b"\n".join(lines) + draw(st.sampled_from([b"", b"\n"])))


UNITS: list[tuple[str, ...]] = [
    *[("--unit", "symbols", "--adjacency", "1")] * 6,
    ("--unit", "same-length"),
    ("--unit", "word", "--max-length", "9"),
    ("--unit", "user", "--max-words-per-user", "3", "--max-length", "9", "--neighbours", "add-remove"),
    ("--unit", "user-symbols", "--max-words-per-user", "3", "--user", "driver"),
    ("--unit", "transition"),
    (),
    *_each("--unit", ("", "symbols", "word", "user", "planet")),
    *(("--unit", "symbols", "--adjacency", b) for b in _WHOLE),
    ("--unit", "transition", "--user", "driver"),
]


@st.composite
def ledger(draw: st.DrawFn) -> Case:
    """Ledgers that are made with odd sizes, or looked at after damage."""
    command = draw(st.sampled_from(["init", "init", "show", "verify", "", "spend"]))
    line = ["ledger", *([command] if command else [])]
    files: dict[str, bytes | None] = {}
    if command == "init":
        line += [draw(st.sampled_from([*["new.db"] * 20, *_PATHS]))]
        line += ["--epsilon", draw(st.sampled_from([*["1", "5"] * 8, "1e-300", "1e308", *_NUMBERS]))]
        line += draw(st.sampled_from([(), *_each("--delta", ("1e-5", "1", "nan", "-1", "1e-320"))]))
        line += draw(st.sampled_from(UNITS))
        each = ("--composition", "pld", "--each-epsilon")
        line += draw(
            st.sampled_from([*[()] * 12, ("--composition", "pld"), *((*each, size) for size in ("0.1", *_NUMBERS))])
        )
    else:
        line += [draw(st.sampled_from(["budget.db", "junk.db", "none.db", ".", "letters.txt", ""]))]
        line += draw(st.sampled_from([(), ("--json",), ("--head", "0:abc"), ("--head", "")]))
        if draw(st.booleans()):
            files["budget.db"] = draw(damaged(public_files()["budget.db"]))
    return Case(tuple(line), files)
