"""Words from data frames, and private words back into them: pandas and polars, and event frames as pm4py has them.

A frame is anything with `columns` and with columns that have `to_list()`: both libraries do, and neither has to be
there for the other. A *long table* has one row for each symbol, with a case that says which word it belongs to. An
*event frame* is a long table with the column names of process mining: `case:concept:name`, `concept:name` and
`time:timestamp`.

Frames live in memory, and `privatize_many` keeps the order of its words. Whoever knows the order of your cases then
knows whose word is whose; shuffle the words first, or use `pathveil.data.privatize_file`, which does it for you.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from pathveil.errors import EmptyWordError, InvalidParameterError
from pathveil.systems.system import Symbol

if TYPE_CHECKING:
    import pandas

Word = tuple[Symbol, ...]

CASE, ACTIVITY, TIME = "case:concept:name", "concept:name", "time:timestamp"


def words_from_column(column: Any) -> list[Word]:
    """The words of a list column: a pandas or polars series with one list of symbols in each row.

    >>> import pandas as pd
    >>> import pathveil as pv
    >>> pv.words_from_column(pd.Series([["home", "list"], ["home", "item", "list"]]))
    [('home', 'list'), ('home', 'item', 'list')]
    """
    words = []
    for row, value in enumerate(_values(column, "the column")):
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise InvalidParameterError(
                f"row {row + 1} holds {value!r}, not a list of symbols. Split texts first: "
                "`series.str.split('>')` in both pandas and polars."
            )
        # Arrays of numpy, as pandas has them after reading Parquet, give plain Python values this way.
        word = tuple(value.tolist() if hasattr(value, "tolist") else value)
        if not word:
            raise EmptyWordError(f"row {row + 1} holds an empty word: leave it out by a rule that is public")
        for position, symbol in enumerate(word):
            _refuse_missing(symbol, f"symbol {position + 1} of row {row + 1}")
        words.append(word)
    return words


def words_from_table(frame: Any, *, case: str, symbol: str, order: str | None = None) -> list[Word]:
    """The words of a long table, in the order in which their cases appear.

    The column `order` sorts the symbols of a word; rows with equal values keep the order of the table, as do all rows
    if there is no such column.

    >>> import pandas as pd
    >>> import pathveil as pv
    >>> visits = pd.DataFrame({"who": [7, 3, 7], "step": [2, 1, 1], "page": ["item", "home", "list"]})
    >>> pv.words_from_table(visits, case="who", symbol="page", order="step")
    [('list', 'item'), ('home',)]
    """
    symbols, cases = _column(frame, symbol), _column(frame, case)
    orders: Sequence[Any] = range(len(cases)) if order is None else _column(frame, order)
    rows_of: dict[Any, list[int]] = {}
    for row, owner in enumerate(cases):
        rows_of.setdefault(owner, []).append(row)
    try:
        return [tuple(symbols[row] for row in sorted(rows, key=orders.__getitem__)) for rows in rows_of.values()]
    except TypeError:
        raise InvalidParameterError(
            f"the values of column {order!r} cannot be compared with each other: make them numbers, or times"
        ) from None


def words_from_events(frame: Any) -> list[Word]:
    """The traces of an event frame, events sorted by time; a frame without times keeps the order of its rows.

    >>> import pandas as pd
    >>> import pathveil as pv
    >>> log = pd.DataFrame({"case:concept:name": ["a", "a", "b"], "concept:name": ["open", "close", "open"]})
    >>> pv.words_from_events(log)
    [('open', 'close'), ('open',)]
    """
    order = TIME if TIME in _columns(frame) else None
    return words_from_table(frame, case=CASE, symbol=ACTIVITY, order=order)


def words_to_table(
    words: Iterable[Sequence[Symbol]],
    *,
    case: str,
    symbol: str,
    order: str,
    library: Literal["pandas", "polars"] = "pandas",
) -> Any:
    """A long table of words: cases and orders are numbered from 1, so no name of the input comes back.

    The words stay in the order given. Shuffle them first if somebody could know the order of your cases.

    >>> import pathveil as pv
    >>> table = pv.words_to_table([("list", "item"), ("home",)], case="visit", symbol="page", order="step")
    >>> print(table.to_csv(index=False))
    visit,step,page
    1,1,list
    1,2,item
    2,1,home
    <BLANKLINE>
    """
    listed = [tuple(word) for word in words]
    columns = {
        case: [number for number, word in enumerate(listed, start=1) for _ in word],
        order: [position for word in listed for position in range(1, len(word) + 1)],
        symbol: [each for word in listed for each in word],
    }
    if len(columns) < 3:
        raise InvalidParameterError("case, symbol and order are three columns: give them three names")
    if library == "pandas":
        import pandas

        return pandas.DataFrame(columns)
    if library == "polars":
        import polars

        return polars.DataFrame(columns)
    raise InvalidParameterError(f"library is 'pandas' or 'polars', not {library!r}")


def words_to_events(
    words: Iterable[Sequence[Symbol]], times: Iterable[Iterable[Any]] | None = None
) -> pandas.DataFrame:
    """An event frame of words, as pm4py takes it.

    `times` has for each word the times of its symbols, as `synthesize_events` gives them; they are taken to be in UTC.
    Without them times are made up: one second after the other, the same in all cases.

    The words stay in the order given. Shuffle them first if somebody could know the order of your cases.

    >>> import pathveil as pv
    >>> log = pv.words_to_events([("open", "close"), ("open",)])
    >>> log["case:concept:name"].to_list(), log["concept:name"].to_list()
    (['1', '1', '2'], ['open', 'close', 'open'])
    """
    listed = [tuple(word) for word in words]
    frame = words_to_table(listed, case=CASE, symbol=ACTIVITY, order=TIME)
    # Process mining wants names of cases to be texts, and times to be times.
    frame[CASE] = frame[CASE].astype(str)
    start = datetime(1970, 1, 1, tzinfo=UTC)
    if times is None:
        frame[TIME] = [start + timedelta(seconds=position - 1) for position in frame[TIME]]
    else:
        frame[TIME] = _times_of(listed, times)
    return frame[[CASE, ACTIVITY, TIME]]


def _times_of(words: list[Word], times: Iterable[Iterable[Any]]) -> pandas.Series:
    import pandas

    given = [list(one) for one in times]
    if list(map(len, given)) != list(map(len, words)):
        raise InvalidParameterError("times has to have one entry for each word, with as many times as it has symbols")
    return pandas.to_datetime(pandas.Series([time for one in given for time in one]), utc=True)


def _columns(frame: Any) -> list[str]:
    if not hasattr(frame, "columns"):
        raise InvalidParameterError(f"{type(frame).__name__} is no data frame: give one of pandas or polars")
    return list(frame.columns)


def _column(frame: Any, name: str) -> list[Any]:
    """The values of a column, none of them missing."""
    present = _columns(frame)
    if name not in present:
        raise InvalidParameterError(f"the frame has no column {name!r}; it has {', '.join(map(repr, present))}")
    values = _values(frame[name], f"column {name!r}")
    for row, value in enumerate(values):
        _refuse_missing(value, f"column {name!r} of row {row + 1}")
    return values


def _values(column: Any, what: str) -> list[Any]:
    if not hasattr(column, "to_list"):
        raise InvalidParameterError(f"{what} is a {type(column).__name__}, not one series of pandas or polars")
    values: list[Any] = column.to_list()
    return values


def _refuse_missing(value: Any, where: str) -> None:
    """None, NaN and NaT: the latter two are not equal to themselves. `pandas.NA` will not even say."""
    try:
        missing = value is None or bool(value != value)
    except (TypeError, ValueError):
        missing = True
    if missing:
        raise InvalidParameterError(f"{where} is missing: correct the frame, or leave the case out by a public rule")
