"""A DataFrame of words in, a DataFrame of private words out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pathveil
from pathveil.data.checking import Checker, OnBadRow
from pathveil.data.formats.splitting import require_separable
from pathveil.data.spark.columns import (
    checked_dataframe,
    checked_kept,
    plan_of,
    quoted,
    require_repeatable,
    word_type,
)
from pathveil.data.spark.piles import DEALT_IN_SPARK, WORD, Job, Sent, dealing, drawing
from pathveil.data.spark.places import place_columns
from pathveil.data.symbols import SymbolTable
from pathveil.errors import InvalidParameterError
from pathveil.randomness.derived import DerivingKey
from pathveil.words.mechanism import WordMechanism

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    checked_dataframe(dataframe)
    if not isinstance(mechanism, WordMechanism):
        raise InvalidParameterError(f"the second argument is a mechanism for words, not {type(mechanism).__name__}")
    symbols = SymbolTable(mechanism.world.symbols)
    Checker(mechanism.world, on_bad_row)  # a wrong option is an error here, not in a task
    element = word_type(dataframe, column, separator)
    kept = checked_kept(dataframe, column, keep)
    if element is None:
        require_separable(symbols, separator)
    require_repeatable(dataframe)
    places = place_columns(dataframe, place)

    from pyspark.sql import functions as sql
    from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
    from pyspark.sql.types import ArrayType, DataType, StringType, StructField, StructType

    value_type = None if element is None else symbols.written_type(to_arrow_type(element))
    written: DataType = StringType() if value_type is None else ArrayType(from_arrow_type(value_type), False)
    # Inside the job columns have names of our own, which cannot clash.
    inner = {f"kept_{i}": name for i, name in enumerate(kept)}
    chosen = dataframe.select(
        sql.col(quoted(column)).alias(WORD), *places, *(sql.col(quoted(name)).alias(i) for i, name in inner.items())
    )
    place_names = [name for name in chosen.columns if name != WORD and name not in inner] if keep_order else []
    job = Job(
        mechanism=Sent(mechanism, dataframe.sparkSession.sparkContext),
        key=DerivingKey(mechanism._source(rng)),
        piles=_pile_count(dataframe),
        column=column,
        separator=separator,
        value_type=value_type,
        place=place,
        kept=(*inner, *place_names),
        on_bad_row=on_bad_row,
        version=pathveil.__version__,
    )
    fields = [StructField(name, chosen.schema[name].dataType) for name in job.kept]
    drawn = (
        chosen.mapInArrow(dealing(job), DEALT_IN_SPARK)
        .repartition("pile")
        .sortWithinPartitions("pile")
        .mapInArrow(drawing(job), StructType([StructField(WORD, written), *fields]))
    )
    if keep_order:
        drawn = drawn.orderBy(*place_names)
    return drawn.select(sql.col(WORD).alias(column), *(sql.col(i).alias(name) for i, name in inner.items()))


def _pile_count(dataframe: DataFrame) -> int:
    """A power of two, from the size of the input alone."""
    size: int = plan_of(dataframe).optimizedPlan().stats().sizeInBytes()
    if size >= _UNKNOWN:
        size = dataframe.count() * _BYTES_A_ROW
    piles = _FEWEST
    while piles < _MOST and piles * _BYTES_A_PILE < size:
        piles *= 2
    return piles
