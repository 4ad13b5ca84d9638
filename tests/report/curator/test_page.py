"""The curator's report: what can be compared honestly, and that it cannot be taken for a release."""

from __future__ import annotations

import stat
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from tests.cli.conftest import ROADS
from tests.report.conftest import CURATOR, LEDGER
from tests.report.pages import Content, charts_of, table_of

ORDERED = (
    "privatize trips.parquet --column route --edges roads.csv --epsilon 1 --yes --keep-order --mechanism exponential "
    "--output ordered.parquet"
)
PAIRED = CURATOR.replace("private.parquet", "ordered.parquet")
WORLD = pv.MarkovChain.from_edges(ROADS)


def words_in(path: str) -> list[list[str]]:
    return pq.read_table(path).column("route").to_pylist()


def test_it_says_in_red_at_the_top_what_it_is_and_only_its_owner_can_read_it(reports) -> None:
    page = reports / "curator.html"
    content = Content(page)
    assert "CONTAINS SENSITIVE DATA" in content.text[:200]
    assert '<p class="alarm" role="alert">CONTAINS SENSITIVE DATA' in page.read_text()
    assert "Curator's report (sensitive)" in content.text
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["report.html", "release.html", "folder"])
def test_a_name_that_does_not_say_so_is_refused_with_one_that_does(folder, run, name) -> None:
    assert run(ORDERED).code == 0
    line = PAIRED.replace("curator.html", name) + (" --format png" if name == "folder" else "")
    ran = run(line)
    assert ran.code == 2
    assert "contains sensitive data, and its name has to say so" in ran.err
    assert f"curator-{name}" in ran.err
    assert not (folder / name).exists()
    assert run(PAIRED.replace("curator.html", "My-SENSITIVE-words.html")).code == 0


def test_words_in_random_order_are_never_put_side_by_side_row_by_row(reports) -> None:
    content = Content(reports / "curator.html")
    assert "Rows cannot be put side by side: the release is in random order" in content.text
    assert "The rows with most errors" not in content.text
    assert "observed in the release" not in content.text


def test_in_random_order_errors_and_replacements_come_from_the_exact_laws(reports) -> None:
    charts = charts_of(reports / "curator.html")
    sensitive = words_in(str(reports / "trips.parquet"))
    mechanism = pv.CertifiedExponential(WORLD, 5.0, 1)
    laws = [mechanism.error_law(word) for word in sensitive]
    assert charts["errors"].headers[1:] == ["expected, exact law"]
    expected = charts["errors"].numbers("expected, exact law")
    mean = sum(law.mean for law in laws) / len(laws)
    assert sum(share * int(errors) for errors, share in expected.items()) == pytest.approx(mean, rel=1e-4)
    # 40 words, all of them used: the replacements of all symbols add up to the errors of all words.
    content = Content(reports / "curator.html").text
    assert "the exact probability for each symbol of 40 sensitive words" in content
    counted = {symbol: sum(word.count(symbol) for word in sensitive) for symbol in WORLD.symbols}
    shares = charts["replaced"].numbers("replacements to expect")
    total = sum(shares[symbol] * counted[symbol] for symbol in shares)
    assert total == pytest.approx(mean * len(sensitive), rel=1e-4)


def test_in_the_order_of_the_input_rows_and_replacements_are_counted(folder, run) -> None:
    assert run(ORDERED).code == 0
    ran = run(PAIRED)
    assert ran.code == 0, ran.err
    assert "CONTAINS SENSITIVE DATA" in ran.err
    sensitive, private = words_in("trips.parquet"), words_in("ordered.parquet")
    wrong = [sum(a != b for a, b in zip(v, w, strict=True)) for v, w in zip(sensitive, private, strict=True)]
    charts = charts_of(folder / "curator.html")
    observed = list(charts["errors"].numbers("observed in the release").values())
    shares = np.bincount(wrong, minlength=len(observed)) / len(wrong)
    assert observed == pytest.approx(shares.tolist(), abs=1e-6)
    for symbol, share in charts["replaced"].numbers("replaced").items():
        places = [(v, w) for a, b in zip(sensitive, private, strict=True) for v, w in zip(a, b, strict=True)]
        here = [w != symbol for v, w in places if v == symbol]
        assert share == pytest.approx(sum(here) / len(here), rel=1e-5)
    content = Content(folder / "curator.html").text
    assert "The rows with most errors" in content
    assert "most often by" in content


def test_shares_matrices_and_long_runs_are_those_of_the_words(reports) -> None:
    charts = charts_of(reports / "curator.html")
    for name, path in (("sensitive", "trips.parquet"), ("private", "private.parquet")):
        words = words_in(str(reports / path))
        for key, ends in (("starts", [word[0] for word in words]), ("ends", [word[-1] for word in words])):
            found = charts[key].numbers(name)
            assert found == pytest.approx({one: ends.count(one) / len(ends) for one in found}, rel=1e-5)
        flat = [symbol for word in words for symbol in word]
        shares = charts["shares"].numbers(name)
        assert shares == pytest.approx({name: flat.count(name) / len(flat) for name in shares}, rel=1e-5)
    sensitive = words_in(str(reports / "trips.parquet"))
    counts = np.zeros((8, 8))
    for word in sensitive:
        for a, b in pairwise(word):
            counts[WORLD.symbols.index(a), WORLD.symbols.index(b)] += 1
    chain = pv.MarkovChain.from_counts(WORLD.symbols, counts)
    shown = np.array([[float(cell) for cell in row[1:]] for row in charts["matrix-sensitive"].body])
    assert shown == pytest.approx(chain.matrix.toarray(), abs=1e-5)
    long_run = charts["stationary"].numbers("sensitive")
    assert [long_run[name] for name in WORLD.symbols] == pytest.approx(list(chain.stationary_distribution), rel=1e-4)
    rows = charts["rows"].numbers("transitions from the state")
    assert [rows[name] for name in WORLD.symbols] == pytest.approx(counts.sum(axis=1))


def test_the_commonest_words_are_counted_before_and_after(reports) -> None:
    before, after = (
        Counter(map(tuple, words_in(str(reports / name)))) for name in ("trips.parquet", "private.parquet")
    )
    table = table_of(reports / "curator.html", "distinct")
    named = {"".join(word): word for word in before}  # chips have no text between them
    for word, sensitive, private in zip(
        table.column("word"), table.column("times, sensitive"), table.column("times, private"), strict=True
    ):
        assert (int(sensitive), int(private)) == (before[named[word]], after[named[word]])


def test_with_the_ledger_the_curator_sees_every_charge_and_which_had_the_same_input(folder, run) -> None:
    assert run(LEDGER).code == 0
    for epsilon in (1, 2):
        line = f"{ORDERED} --ledger budget.db --overwrite".replace("--epsilon 1", f"--epsilon {epsilon}")
        assert run(line).code == 0
    assert run(f"{PAIRED} --ledger budget.db").code == 0
    charges = table_of(folder / "curator.html", "charges")
    assert charges.column("ε") == ["1", "2"]
    details = table_of(folder / "curator.html", "charge-details")
    known = details.column("fingerprint of the input")
    assert len(set(known)) == 1
    assert len(known[0]) == 8
    assert "trips.parquet" in details.column("command")[0]


def test_a_private_model_is_compared_row_by_row(folder, run) -> None:
    assert run(ORDERED).code == 0
    model = "model trips.parquet --column route --unit transition --states zones.txt --epsilon 1 --output model.json"
    assert run(model).code == 0
    assert run(f"{PAIRED} --model model.json").code == 0
    assert "The private model: the rows that are farthest from the data" in Content(folder / "curator.html").text
    assert "matrix-model" in charts_of(folder / "curator.html")
    (folder / "zones.txt").write_text("".join(f"s{i}\n" for i in range(9)))
    assert run(f"{model} --overwrite").code == 0
    assert "do not have the same symbols" in run(f"{PAIRED} --model model.json --overwrite").err


def test_every_chart_is_a_picture_whose_name_says_that_it_is_sensitive(folder, run) -> None:
    assert run(ORDERED).code == 0
    assert run(PAIRED.replace("curator.html", "curator") + " --format svg").code == 0
    made = sorted(path.name for path in (folder / "curator").iterdir())
    assert all(name.startswith("sensitive-") and name.endswith(".svg") for name in made)
    assert {"sensitive-errors.svg", "sensitive-matrix-private.svg", "sensitive-stationary.svg"} <= set(made)
    assert stat.S_IMODE((folder / "curator").stat().st_mode) == 0o700


def test_a_release_on_another_system_and_the_input_as_its_own_release_are_refused(folder, run) -> None:
    assert run(ORDERED).code == 0
    (folder / "roads.csv").write_text((folder / "roads.csv").read_text() + "s0,s3\n")
    assert "made on another public system" in run(PAIRED).err
    assert "is the sensitive input itself" in run(PAIRED.replace("ordered.parquet", "trips.parquet")).err


def test_without_a_manifest_only_the_files_are_compared(folder, run) -> None:
    assert run(ORDERED).code == 0
    (folder / "ordered.parquet.manifest.json").unlink()
    assert run(PAIRED).code == 0
    content = Content(folder / "curator.html").text
    assert "has no manifest beside it" in content
    left_out = content[content.index("Left out") :]
    assert "Errors: neither the pairs nor the mechanism of the release are known." in left_out
    assert "Replacements: neither" in left_out


def test_words_that_were_left_out_of_the_release_are_not_paired_with_others(folder, run) -> None:
    assert run(f"{ORDERED} --user driver --max-words-per-user 2").code == 0
    assert run(PAIRED).code == 0
    assert "some were left out of the release" in Content(folder / "curator.html").text


def test_infeasible_words_that_the_release_accepted_are_compared_too(folder, run) -> None:
    table = pq.read_table("trips.parquet").to_pydict()
    table["route"][0] = ["s0"] * 6
    pq.write_table(pa.table(table), "trips.parquet")
    assert run(f"{ORDERED} --on-infeasible nearest --mechanism permute-and-flip").code == 0
    ran = run(PAIRED)
    assert ran.code == 0, ran.err
    assert "expected, exact law" in Content(folder / "curator.html").text


def test_hostile_symbols_are_text_in_every_table(folder, run) -> None:
    names = ["<script>alert(1)</script>", '"><b>x', "c"]
    (folder / "pages.txt").write_text("\n".join(names) + "\n")
    (folder / "lines.txt").write_text(f"{names[0]} c\n{names[1]} {names[0]}\nc c c\n")
    line = "privatize lines.txt --alphabet pages.txt --epsilon 2 --output private.txt"
    for option in ("", " --keep-order"):
        assert run(f"{line}{option} --overwrite").code == 0
        report = "report curator --input lines.txt --alphabet pages.txt --private private.txt --output curator.html"
        assert run(f"{report} --overwrite").code == 0
        content = Content(folder / "curator.html")
        assert "script" not in content.elements
        assert "b" not in content.elements
        assert names[0] in content.text
