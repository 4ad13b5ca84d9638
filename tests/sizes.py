"""Tests that are small in `make test`, and large as well in `make test-all`.

The small size proves the claim; the large one, which is marked slow, looks for what is rare.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

Test = Callable[..., None]


def small_and_large(name: str, small: Any, large: Any) -> pytest.MarkDecorator:
    """Give the test its argument `name` in two sizes."""
    return pytest.mark.parametrize(name, [small, pytest.param(large, marks=pytest.mark.slow)])


def given_few_and_many(few: int, many: int, **strategies: st.SearchStrategy[Any]) -> Callable[[Test], Test]:
    """Hypothesis' `given`, with few examples and with many. Other arguments of the test are left to pytest."""

    def decorate(check: Test) -> Test:
        def test(examples: int, **others: Any) -> None:
            @given(st.fixed_dictionaries(strategies))
            def search(drawn: dict[str, Any]) -> None:
                check(**others, **drawn)

            if settings.default is not None and settings.default.derandomize:
                # Hypothesis repeats the same examples for the same source code, which is the same here in all tests.
                names = [value for value in others.values() if isinstance(value, str)]
                search = seed(zlib.crc32(f"{check.__name__} {names}".encode()))(search)
            settings(max_examples=examples)(search)()

        signature = inspect.signature(check)
        left = [parameter for name, parameter in signature.parameters.items() if name not in strategies]
        sizes = inspect.Parameter("examples", inspect.Parameter.KEYWORD_ONLY)
        test.__signature__ = inspect.Signature([*left, sizes])  # type: ignore[attr-defined]
        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        marked = small_and_large("examples", few, many)(test)
        marked.pytestmark = [*getattr(check, "pytestmark", []), *marked.pytestmark]  # type: ignore[attr-defined]
        return marked

    return decorate
