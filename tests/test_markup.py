"""Whatever a symbol is called, it stays text."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.markup import name_of, table, tag

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script>",
    "'&lt;",
    "${7*7}",
    "\u2028",
    "\x00",
]


class Tags(HTMLParser):
    """Which elements a text has, and all that is written in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append(name)
        self.attributes += attributes

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(), st.text())
def test_any_text_comes_back_from_an_element_and_from_an_attribute(content: str, attribute: str) -> None:
    parsed = Tags(tag("p", name_of(content), title=name_of(attribute)))
    assert parsed.seen == ["p"]
    assert parsed.text == name_of(content)
    assert parsed.attributes == [("title", name_of(attribute))]


@pytest.mark.parametrize("name", HOSTILE)
def test_objects_show_hostile_symbols_as_text(name: str) -> None:
    world = pv.Alphabet([name, "b"])
    mechanism = pv.CertifiedExponential(world, epsilon=2.0)
    chain = pv.MarkovChain.from_edges([(name, "b"), ("b", name)])
    model = pv.fit_private_chain(
        [[5, 5], [5, 5]], states=[name, "b"], epsilon=1.0, mechanism="laplace", rng=pv.insecure_seed(1)
    )
    for shown in (world, chain, mechanism.error_law([name, "b"]), mechanism.guarantee, model):
        allowed = {"div", "p", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td", "meter"}
        assert set(Tags(shown._repr_html_()).seen) <= allowed


def test_objects_show_what_matters_in_a_notebook() -> None:
    mechanism = pv.PermuteAndFlip(pv.Alphabet("abc"), epsilon=2.0, adjacency=2)
    mechanism.privatize("abc", rng=pv.insecure_seed(1))
    promise = Tags(mechanism.guarantee._repr_html_()).text
    assert "ε = 2, δ = 0" in promise
    assert "differs in at most 2 symbols" in promise
    assert "NOT private against whoever knows the seed" in promise
    law = mechanism.error_law("abc")
    assert f"{law.mean:.4g}" in Tags(law._repr_html_()).text
    assert "3: 'a', 'b', 'c'" in Tags(mechanism.world._repr_html_()).text


def test_a_table_names_its_rows_and_columns_for_screen_readers() -> None:
    shown = table("sizes", ["name", "size", "share", "remark"], [["a", 1234, "5.1%", "many"], ["b", 0.00012, "0%", ""]])
    assert '<th scope="col">name</th>' in shown
    assert '<th scope="col" class="number">size</th><th scope="col" class="number">share</th>' in shown
    assert '<td class="number">5.1%</td><td>many</td>' in shown
    assert '<th scope="row">a</th>' in shown
    assert ">1,234<" in shown
    assert ">1.2e-04<" in shown
