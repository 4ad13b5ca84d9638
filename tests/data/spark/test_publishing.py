"""A folder of Spark's appears whole or not at all, and an earlier one survives a failed replacement. No Java needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import pathveil as pv
from pathveil.data.spark.publishing import publish_folder
from pathveil.data.workspace import private_workspace
from pathveil.data.writing.manifest import manifest_path

MECHANISM = pv.Online(pv.Alphabet("ab"), 1.0)


def release(output: Path, content: str, *, overwrite: bool = False) -> None:
    with private_workspace(output) as workspace:
        finished = workspace / "finished"
        finished.mkdir()
        (finished / "part-0").write_text(content)
        publish_folder(finished, output, MECHANISM.guarantee, MECHANISM.world, overwrite)


def test_a_replacement_takes_the_place_of_folder_and_manifest(tmp_path: Path) -> None:
    output = tmp_path / "private"
    release(output, "old")
    release(output, "new", overwrite=True)
    assert (output / "part-0").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["private", manifest_path(output).name]


@pytest.mark.parametrize("step", ["os.rename", "pathveil.data.spark.publishing.write_manifest"])
def test_a_replacement_that_fails_leaves_the_earlier_output_with_its_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    output = tmp_path / "private"
    release(output, "old")
    before = manifest_path(output).read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(step, full)
    with pytest.raises(OSError, match="No space left"):
        release(output, "new", overwrite=True)
    assert (output / "part-0").read_text() == "old"
    assert manifest_path(output).read_bytes() == before
