"""Entities are refused before anything is expanded or fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

import pathveil as pv
from pathveil import data
from tests.data.files import faithful

LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 30))
EVENT = '<log><trace><event><string key="concept:name" value="{}"/></event></trace></log>'


@pytest.mark.parametrize(
    "declaration",
    [
        f'<!DOCTYPE log [<!ENTITY l0 "a">{LAUGHS}]>',
        '<!DOCTYPE log [<!ENTITY secret SYSTEM "{secret}">]>',
        '<!DOCTYPE log [<!ENTITY % secret SYSTEM "{secret}"> %secret;]>',
        '<!DOCTYPE log SYSTEM "{secret}">',
        '<!DOCTYPE log PUBLIC "-//none//EN" "http://127.0.0.1:9/none.dtd">',
    ],
    ids=["a billion laughs", "external entity", "external parameter entity", "external subset", "remote subset"],
)
@pytest.mark.parametrize("entity", ["&l29;", "&secret;", "a"])
def test_files_that_declare_a_document_type_are_refused(declaration: str, entity: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a")
    source = tmp_path / "log.xes"
    source.write_text('<?xml version="1.0"?>' + declaration.replace("{secret}", secret.as_uri()) + EVENT.format(entity))
    with pytest.raises(pv.DataFileError, match="declares a document type"):
        data.privatize_file(source, data.EventLog(), faithful(pv.Alphabet("a")), tmp_path / "out.xes")
    assert not (tmp_path / "out.xes").exists()


def test_the_same_log_without_a_declaration_is_read(tmp_path: Path) -> None:
    source = tmp_path / "log.xes"
    source.write_text('<?xml version="1.0"?>' + EVENT.format("a"))
    data.privatize_file(source, data.EventLog(), faithful(pv.Alphabet("a")), tmp_path / "out.xes")


@pytest.mark.parametrize("text", ["<log>", "<other/>", "", "<log><trace></log>", '<log a="&x;"/>', "\x00\x01"])
def test_other_xml_that_is_no_log_is_refused(text: str, tmp_path: Path) -> None:
    source = tmp_path / "log.xes"
    source.write_text(text)
    with pytest.raises(pv.DataFileError, match=r"log\.xes"):
        data.privatize_file(source, data.EventLog(), faithful(pv.Alphabet("a")), tmp_path / "out.xes")
