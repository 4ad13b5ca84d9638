"""What the site has besides the pages in this folder: those beside it, the command reference, Python prompts.

MkDocs calls the `on_…` functions while it builds (https://www.mkdocs.org/dev-guide/plugins/#events).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from command_reference import command_reference
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
# CHANGELOG.md, CONTRIBUTING.md and the like; the README's place is taken by the start page.
BESIDE = {path.name: path for path in sorted(ROOT.glob("*.md")) if path.name != "README.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Pages that are made from what stands elsewhere, so that they cannot be out of date."""
    for name, path in BESIDE.items():
        text = path.read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name.lower(), content=text))
    files.append(File.generated(config, "command-reference.md", content=command_reference()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links to the pages beside docs/, colours for examples with prompts, and explanations first for who searches."""
    if page.file.src_uri.startswith("reference/"):
        page.meta["search"] = {"boost": 0.2}
    # From docs/ such a page is one folder up; on the site it is not.
    for name in BESIDE:
        markdown = re.sub(rf"\]\(\.\./((?:\.\./)*){name}", rf"](\g<1>{name.lower()}", markdown)
    return re.sub(r"^```python\n(?=>>> )", "```pycon\n", markdown, flags=re.MULTILINE)
