"""Manifests of releases, read and shown."""

from pathlib import Path

from harness import fuzz_file, parsers

with parsers():
    from pathveil.report.release_page import release_page
    from pathveil.report.released import read_manifest


def read(path: Path) -> None:
    released = read_manifest(path)
    assert released.data_file.parent == path.parent, "a manifest must not point elsewhere"
    assert release_page(released, None, None).render()


fuzz_file(read, "private.csv.manifest.json")
