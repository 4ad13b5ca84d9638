"""What a DataFrame has to be, and which of its columns are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pathveil.data.formats import checked_separator
from pathveil.errors import DataFileError, InvalidParameterError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

# Steps of a plan, one a line after the lines of the tree, that take whichever rows come first.
_LEFT_TO_CHANCE = re.compile(r"^[\s:+\-]*(GlobalLimit|LocalLimit|Offset|Tail|Sample|Deduplicate)\b", re.MULTILINE)


def checked_dataframe(dataframe: DataFrame) -> None:
    """An error for anything but a DataFrame of a batch job in a session of this process."""
    try:
        from pyspark.sql.classic.dataframe import DataFrame as Classic
    except ImportError:
        raise InvalidParameterError("Spark is not installed: pip install 'pathveil[spark]'") from None
    if not isinstance(dataframe, Classic):
        raise InvalidParameterError(
            f"a Spark DataFrame is needed (of a session of its own, not of Spark Connect), not "
            f"{type(dataframe).__module__}.{type(dataframe).__qualname__}"
        )
    if dataframe.isStreaming:
        raise InvalidParameterError("a DataFrame of a batch job is needed; for streams of symbols there is pv.Online")


def require_repeatable(dataframe: DataFrame) -> None:
    """An error for a plan that gives other rows each time it is run.

    A task that runs again must find the same words at the same places.
    """
    plan = plan_of(dataframe).analyzed()
    chance = _LEFT_TO_CHANCE.search(plan.toString())
    if chance is not None or not plan.deterministic():
        raise InvalidParameterError(
            f"the DataFrame may come out differently each time it is computed ({chance.group(1) if chance else 'rand'} "
            "or the like is in it), so a task that is run again would see other words. Write it to files first, and "
            "read those."
        )


def plan_of(dataframe: DataFrame) -> Any:
    """Spark's own description of what will be done."""
    return dataframe._jdf.queryExecution()


def word_type(dataframe: DataFrame, column: str, separator: str | None) -> DataType | None:
    """The type of the symbols in a column of lists; None for a column of texts, which are split."""
    from pyspark.sql.types import ArrayType, IntegralType, StringType

    checked_separator(separator)
    kind = dataframe.schema[require_column(dataframe, column)].dataType
    if isinstance(kind, ArrayType):
        if not isinstance(kind.elementType, (IntegralType, StringType)):
            raise DataFileError(
                f"column {column!r}: lists of texts or whole numbers are needed, not {kind.simpleString()}"
            )
        if separator is not None:
            raise InvalidParameterError(f"column {column!r} holds lists: leave out the separator")
        return kind.elementType
    if not isinstance(kind, StringType):
        raise DataFileError(f"column {column!r}: lists or texts are needed, not {kind.simpleString()}")
    return None


def require_column(dataframe: DataFrame, name: str) -> str:
    """The name, if the DataFrame has one such column."""
    present = dataframe.columns
    if name not in present:
        listed = ", ".join(map(repr, present))
        raise DataFileError(f"there is no column {name!r}; the columns are {listed}. Check the name.")
    if present.count(name) > 1:
        raise DataFileError(f"two columns are called {name!r}. Rename one of them.")
    return name


def checked_kept(dataframe: DataFrame, column: str, keep: Sequence[str]) -> tuple[str, ...]:
    """The columns that are released as they are."""
    if isinstance(keep, str):
        raise InvalidParameterError(f"keep is a list of column names: write [{keep!r}]")
    for name in keep:
        if require_column(dataframe, name) == column:
            raise InvalidParameterError(f"`keep`: {name!r} is the column of the words themselves, and is replaced")
    if len(set(keep)) < len(keep):
        raise InvalidParameterError(f"`keep`: a column is named twice in {', '.join(keep)}")
    return tuple(keep)


def quoted(name: str) -> str:
    """A column name as Spark wants it where dots mean something."""
    return "`" + name.replace("`", "``") + "`"
