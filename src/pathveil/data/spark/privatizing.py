"""A DataFrame of words in, a DataFrame of private words out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pathveil
from pathveil.data.formats import require_separable
from pathveil.data.reading import Checker, OnBadRow
from pathveil.data.spark.columns import checked_dataframe, checked_kept, plan_of, quoted, require_repeatable, word_type
from pathveil.data.spark.failures import plain_errors
from pathveil.data.spark.piles import DEALT_IN_SPARK, WORD, Job, checking, dealing, drawing
from pathveil.data.spark.places import FILE, ROW, place_columns
from pathveil.data.spark.sending import Sent
from pathveil.data.symbols import SymbolTable
from pathveil.errors import DataFileError, InvalidParameterError
from pathveil.randomness.derived import DerivingKey
from pathveil.randomness.source import system_source
from pathveil.words.base import WordMechanism

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from pathveil.randomness.source import RandomSource

_BYTES_A_PILE = 1 << 18  # of the input as Spark estimates it, so compressed: some MB of words
_FEWEST, _MOST = 16, 1 << 14
_UNKNOWN = 1 << 60  # Spark says so much where it knows nothing
_BYTES_A_ROW = 32


def privatize(
    dataframe: DataFrame,
    mechanism: WordMechanism,
    column: str,
    *,
    separator: str | None = None,
    place: str | None = None,
    keep: Sequence[str] = (),
    keep_order: bool = False,
    on_bad_row: OnBadRow = "fail",
    rng: RandomSource | None = None,
) -> DataFrame:
    """One private word for each word in a column: a DataFrame with that column, and those in `keep`.

    A word is a list of symbols or a text; `separator` says what stands between symbols in a text (None: white space,
    "": nothing). The words come in random order, unless `keep_order`. Columns in `keep` are released as they are.
    Words that cannot be released end the job, or are left out with `on_bad_row="skip"`.

    The result may be computed any number of times, in parts or as a whole: a row gets the same private word each time,
    so all of that is *one* release and costs one charge. Calling `privatize` again is another one. For that, every row
    needs a place that stays the same. Rows of Parquet files have one; otherwise name a column in `place` in which every
    row has a value of its own (whole numbers or texts).

    `data.file_guarantee` says what is promised. `plain_errors` makes the errors of the job readable.
    """
    key = DerivingKey(checked_mechanism(mechanism)._source(rng))
    prepared = _prepared(dataframe, mechanism, key, column, separator, place, keep, keep_order, on_bad_row)
    return prepared.drawn()


def check_words(
    dataframe: DataFrame,
    mechanism: WordMechanism,
    column: str,
    *,
    separator: str | None = None,
    place: str | None = None,
    keep: Sequence[str] = (),
    on_bad_row: OnBadRow = "fail",
) -> int:
    """Look at every row as `privatize` would, draw nothing, and say how many words there are.

    What is wrong with the words is found here before a budget is charged for them. The number is for the curator.
    """
    key = DerivingKey(system_source())  # nothing is drawn with it
    with plain_errors():
        prepared = _prepared(dataframe, mechanism, key, column, separator, place, keep, False, on_bad_row)
        count: int = sum(row["words"] for row in prepared.checked().collect())
    if not count:
        raise DataFileError("there is no word to release")
    return count


@dataclass(frozen=True)
class _Prepared:
    """A job that is ready to run: its rows, under names of our own, which cannot clash; and what comes out of it."""

    rows: DataFrame
    job: Job
    written: DataType
    kept: dict[str, str]
    order: list[str]

    def checked(self) -> DataFrame:
        return self.rows.mapInArrow(checking(self.job), "words bigint")

    def drawn(self) -> DataFrame:
        from pyspark.sql import functions as sql
        from pyspark.sql.types import StructField, StructType

        fields = [StructField(name, self.rows.schema[name].dataType) for name in self.job.kept]
        drawn = (
            self.rows.mapInArrow(dealing(self.job), DEALT_IN_SPARK)
            .repartition("pile")
            .sortWithinPartitions("pile")
            .mapInArrow(drawing(self.job), StructType([StructField(WORD, self.written), *fields]))
        )
        if self.order:
            drawn = drawn.orderBy(*self.order)
        kept = (sql.col(own).alias(name) for own, name in self.kept.items())
        return drawn.select(sql.col(WORD).alias(self.job.column), *kept)


def _prepared(
    dataframe: DataFrame,
    mechanism: WordMechanism,
    key: DerivingKey,
    column: str,
    separator: str | None,
    place: str | None,
    keep: Sequence[str],
    keep_order: bool,
    on_bad_row: OnBadRow,
) -> _Prepared:
    """All that can be wrong without looking at a row is an error here."""
    checked_dataframe(dataframe)
    symbols = SymbolTable(checked_mechanism(mechanism).world.symbols)
    Checker(mechanism.world, on_bad_row)
    element = word_type(dataframe, column, separator)
    names = checked_kept(dataframe, column, keep)
    if element is None:
        require_separable(symbols, separator)
    require_repeatable(dataframe)
    places = place_columns(dataframe, place)

    from pyspark.sql import functions as sql
    from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
    from pyspark.sql.types import ArrayType, StringType

    value_type = None if element is None else symbols.written_type(to_arrow_type(element))
    kept = {f"kept_{i}": name for i, name in enumerate(names)}
    rows = dataframe.select(
        sql.col(quoted(column)).alias(WORD), *places, *(sql.col(quoted(name)).alias(own) for own, name in kept.items())
    )
    order = [name for name in rows.columns if name in (FILE, ROW)] if keep_order else []
    job = Job(
        mechanism=Sent(mechanism, dataframe.sparkSession.sparkContext),
        key=key,
        piles=_pile_count(dataframe),
        column=column,
        separator=separator,
        value_type=value_type,
        place=place,
        kept=(*kept, *order),
        on_bad_row=on_bad_row,
        version=pathveil.__version__,
    )
    written = StringType() if value_type is None else ArrayType(from_arrow_type(value_type), False)
    return _Prepared(rows, job, written, kept, order)


def checked_mechanism(mechanism: WordMechanism) -> WordMechanism:
    """The mechanism, if it is one."""
    if not isinstance(mechanism, WordMechanism):
        raise InvalidParameterError(f"the second argument is a mechanism for words, not {type(mechanism).__name__}")
    return mechanism


def _pile_count(dataframe: DataFrame) -> int:
    """A power of two, from the size of the input alone."""
    size: int = plan_of(dataframe).optimizedPlan().stats().sizeInBytes()
    if size >= _UNKNOWN:
        size = dataframe.count() * _BYTES_A_ROW
    piles = _FEWEST
    while piles < _MOST and piles * _BYTES_A_PILE < size:
        piles *= 2
    return piles
