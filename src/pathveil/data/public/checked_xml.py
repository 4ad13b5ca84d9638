"""XML of others is looked through before a library gets it.

Libraries that read XML differ in what they do with entities: some fetch other files, some expand them until the memory
is full. There are none without a document type declaration, and no format of ours needs one, so a file that has one is
refused. On the way every element is shown to whoever wants to know what is in the file, and on which line.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.parsers import expat

from pathveil.errors import FileItselfError, InvalidSystemError

_BLOCK = 1 << 18

Seen = Callable[[list[str], dict[str, str], int], None]
"""Called for each element with the names from the outermost element to this one, its attributes, and its line."""


def check_xml(path: str | Path, root: str, seen: Seen | None = None) -> None:
    """An error unless the file is well-formed XML without a document type, and its outermost element is `root`."""
    parser = expat.ParserCreate(namespace_separator="}")
    names: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        names.append(tag.rpartition("}")[2])
        if len(names) == 1 and names[0] != root:
            raise InvalidSystemError(
                f"{path}: the file should be one <{root}>, not <{names[0]}>. Is it another format?"
            )
        if seen is not None:
            seen(names, attributes, parser.CurrentLineNumber)

    def end(_tag: str) -> None:
        names.pop()

    def refuse_doctype(*_: Any) -> None:
        raise InvalidSystemError(
            f"{path}: the file declares a document type, which can define entities that exhaust memory or read other "
            "files. No public system needs one: remove the <!DOCTYPE …> declaration."
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        with open(path, "rb") as file:
            while block := file.read(_BLOCK):
                parser.Parse(block, False)
            parser.Parse(b"", True)
    except OSError as problem:
        raise FileItselfError(f"{path}: cannot be read ({problem.strerror or problem})") from None
    except expat.ExpatError as problem:
        raise InvalidSystemError(f"{path}: this is not well-formed XML ({problem}). Save it again.") from None
    except (LookupError, ValueError) as problem:
        if type(problem) not in (LookupError, ValueError):  # the parser's own, about the encoding that is declared
            raise
        raise FileItselfError(f"{path}: {problem}. Save the file as UTF-8.") from None
