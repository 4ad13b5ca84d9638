"""What the site has besides the pages in this folder: the changelog, the command reference, Python prompts.

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


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Pages that are made from what stands elsewhere, so that they cannot be out of date."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "changelog.md", content=changelog))
    files.append(File.generated(config, "command-reference.md", content=command_reference()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Examples with prompts are coloured as such. Who searches wants explanations first."""
    if page.file.src_uri.startswith("reference/"):
        page.meta["search"] = {"boost": 0.2}
    return re.sub(r"^```python\n(?=>>> )", "```pycon\n", markdown, flags=re.MULTILINE)
