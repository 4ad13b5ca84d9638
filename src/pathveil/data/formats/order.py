"""How an order column is read: as numbers, as times, or alphabetically.

A column of texts is taken for what all of its values are. A wrong guess would put symbols into the wrong order without
anybody noticing, so nothing is guessed: where days and months could be exchanged, where formats are mixed, where a time
zone is missing in some rows, and where a text with digits is neither a number nor a time, the file is refused until
somebody says how it is to be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pathveil.data.formats.table_rows import TableRows
from pathveil.errors import DataFileError, InvalidParameterError

ALPHABETICALLY = "text"
"""A declared format that is none: the values are sorted as texts."""

_SAMPLE = 1000  # rows that are tried with all formats, before all rows are tried with those that fit some of these

_ZONED, _UNZONED = "an ISO time with a time zone", "an ISO time without a time zone"
_CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%I:%M:%S%p")


def _with_clocks(*dates: str) -> tuple[str, ...]:
    return tuple(date + time for date in dates for time in ("", *(f"{gap}{c}" for gap in (" ", ", ") for c in _CLOCKS)))


# What else a value may be, and in which forms. Years have four digits, or have to be declared.
_FORMS: dict[str, tuple[str, ...]] = {
    "day/month/year": _with_clocks("%d/%m/%Y"),
    "month/day/year": _with_clocks("%m/%d/%Y"),
    "day.month.year": _with_clocks("%d.%m.%Y"),
    "month.day.year": _with_clocks("%m.%d.%Y"),
    "day-month-year": _with_clocks("%d-%m-%Y"),
    "month-day-year": _with_clocks("%m-%d-%Y"),
    "year.month.day": _with_clocks("%Y.%m.%d"),
    "a date with the name of the month": _with_clocks(
        *("%d-%b-%Y", "%d %b %Y", "%d/%b/%Y", "%b %d, %Y", "%b %d %Y", "%d %B %Y", "%B %d, %Y", "%B %d %Y")
    ),
    "a time of day": _CLOCKS,
}
_SIGNS = "/.-:,"
_EXCHANGED = {f"day{s}month{s}year": f"month{s}day{s}year" for s in "/.-"}


@dataclass(frozen=True)
class Order:
    """SQL to sort a column by, and what is wrong with a row for which it is null."""

    expression: str
    wrong: str = "is missing"


def checked_formats(declared: str | Sequence[str] | None) -> tuple[str, ...]:
    """Declared time formats, the first that fits counts; wrong use where that is none or makes no sense."""
    formats = (declared,) if isinstance(declared, str) else tuple(declared or ())
    for one in formats:
        if not isinstance(one, str) or ("%" not in one and formats != (ALPHABETICALLY,)):
            raise InvalidParameterError(
                f"`time_format` is {one!r}: it has the form '%d/%m/%Y %H:%M' (as strptime takes it), or is "
                f"{ALPHABETICALLY!r} for an order column that is sorted alphabetically"
            )
    if len({"%z" in one.lower() for one in formats}) > 1:
        raise InvalidParameterError(
            "`time_format`: give all formats a time zone (%z) or none: times without one cannot be put among the others"
        )
    return formats


def read_order(rows: TableRows, alias: str, column: str, formats: Sequence[str]) -> Order:
    """How to sort by the column `column`, which `rows` have under an alias."""
    [kind] = rows.database.types(f"SELECT {alias} FROM ({rows.all})")
    text = f"CAST({alias} AS VARCHAR)"
    if formats == (ALPHABETICALLY,):
        return Order(text)
    if formats:
        if kind.startswith(("TIME", "DATE")):
            raise InvalidParameterError(
                f"{rows.files[0].name}, column {column!r}: these are times already. Leave out `time_format`."
            )
        _require_valid(rows, formats)
        forms = " or ".join(map(repr, formats))
        return Order(_moment(text, formats), f"is missing or not a time of the form {forms}")
    return _Texts(rows, alias, column).order() if kind == "VARCHAR" else Order(alias)


def _require_valid(rows: TableRows, formats: Sequence[str]) -> None:
    for one in formats:
        try:
            rows.database.rows(f"SELECT try_strptime('', {_literal(one)})")
        except DataFileError:
            raise InvalidParameterError(
                f"`time_format` {one!r} has a part that is unknown. %d, %m, %Y, %H, %M, %S, %f, %I, %p, %b and %z are "
                "day, month, year, hour, minute, second, its fraction, hour up to 12, AM or PM, name of the month, zone"
            ) from None


class _Texts:
    """A column of texts without a declared format."""

    def __init__(self, rows: TableRows, alias: str, column: str) -> None:
        self._rows, self._text, self._column = rows, alias, column
        text = f"trim({alias})"
        number, moment = f"TRY_CAST({text} AS DOUBLE)", f"TRY_CAST({text} AS TIMESTAMPTZ)"
        # 'infinity' and 'epoch' are times for the database, and its years may have one digit.
        is_time = f"{moment} BETWEEN '1000-01-01' AND '9999-12-31' AND ascii({text}) BETWEEN 48 AND 57"
        has_zone = f"regexp_matches({text}, ':.*[A-Za-z+-]')"
        # DuckDB 2.0 hands a bare TRY_CAST of a CSV column to the reader, which fails instead of giving null
        # (duckdb/duckdb#23818); a trimmed column it leaves alone.
        self._casts = {
            "a number": f"TRY_CAST({text} AS DECIMAL(38, 10))",
            "a number, large or small": f"CASE WHEN isfinite({number}) THEN {number} END",
            _ZONED: f"CASE WHEN {is_time} AND {has_zone} THEN epoch_us({moment}) END",
            _UNZONED: f"CASE WHEN {is_time} AND NOT {has_zone} THEN epoch_us({moment}) END",
        }

    def order(self) -> Order:
        present, fitting, kinds = self._fitting()
        best = max(fitting, key=fitting.__getitem__, default=None)
        if best is None or not fitting[best]:
            self._refuse_digits()
            return Order(self._text)
        if fitting[best] < present:
            self._refuse_mixture(best, kinds)
        twin = _EXCHANGED.get(best)  # of kinds that fit equally well, the best is the one that comes first
        if twin is not None and fitting.get(twin) == fitting[best]:
            self._refuse_exchanged(best, twin, kinds)
        return Order(
            kinds[best], "is missing" + ("" if fitting[best] == present else f" or not {best} like the others")
        )

    def _fitting(self) -> tuple[int, dict[str, int], dict[str, str]]:
        """How many values there are, how many are of which kind, and the SQL for each kind.

        All rows are read with the few forms that occur in the first rows. Only where none of these kinds fits all of
        them is every form tried on what is left over.
        """
        present = f"SELECT {self._text} FROM ({self._rows.all}) WHERE {self._text} IS NOT NULL"
        used = self._forms_in(f"{present} LIMIT {_SAMPLE}")
        kinds = self._kinds(used)
        count, fitting = self._counts(kinds)
        if count in fitting.values():
            return count, fitting, kinds
        best = kinds[max(fitting, key=fitting.__getitem__)] if fitting else "NULL"
        used |= self._forms_in(f"{present} AND {best} IS NULL AND {self._has_digits}")
        kinds = self._kinds(used)
        return *self._counts(kinds), kinds

    def _forms_in(self, source: str) -> set[tuple[str, str]]:
        """Which forms of which kinds some values have.

        There are hundreds of forms, and a question about all of them takes much longer than reading a small file. So
        those that have a sign which no value has are left out.
        """
        present = ", ".join(f"bool_or(contains({self._text}, {_literal(sign)}))" for sign in _SIGNS)
        [seen] = self._rows.database.rows(f"SELECT {present} FROM ({source})")
        absent = {sign for sign, is_there in zip(_SIGNS, seen, strict=True) if not is_there}
        tried = {
            (kind, form): _moment(self._text, [form])
            for kind, forms in _FORMS.items()
            for form in forms
            if absent.isdisjoint(form)
        }
        tried |= {(kind, ""): sql for kind, sql in self._casts.items()}
        fits = ", ".join(f"bool_or({sql} IS NOT NULL)" for sql in tried.values())
        [found] = self._rows.database.rows(f"SELECT {fits} FROM ({source})")
        return {key for key, is_there in zip(tried, found, strict=True) if is_there}

    def _kinds(self, used: set[tuple[str, str]]) -> dict[str, str]:
        kinds = {kind: sql for kind, sql in self._casts.items() if (kind, "") in used}
        for kind, forms in _FORMS.items():
            if some := [form for form in forms if (kind, form) in used]:
                kinds[kind] = _moment(self._text, some)
        return kinds

    def _counts(self, kinds: Mapping[str, str]) -> tuple[int, dict[str, int]]:
        counted = ", ".join(f"count({sql})" for sql in (self._text, *kinds.values()))
        [(present, *fitting)] = self._rows.database.rows(f"SELECT {counted} FROM ({self._rows.all})")
        return present, dict(zip(kinds, fitting, strict=True))

    @property
    def _has_digits(self) -> str:
        return f"regexp_matches({self._text}, '[0-9]')"

    def _refuse_digits(self) -> None:
        """Texts without digits are sorted alphabetically; with digits that is hardly what anybody wants."""
        if (found := self._rows.first(self._has_digits, self._text)) is not None:
            raise self._error(
                [found],
                "{0} is neither a number nor a time that can be recognised. Say what it is: "
                f"`time_format='%d/%m/%y %H:%M'`, for example, or `time_format=\"{ALPHABETICALLY}\"` to sort "
                "alphabetically.",
            )

    def _refuse_mixture(self, best: str, kinds: Mapping[str, str]) -> None:
        """Several kinds in one column. (What is of no kind at all makes bad rows.)"""
        for other, sql in kinds.items():
            if (odd := self._rows.first(f"{kinds[best]} IS NULL AND {sql} IS NOT NULL", self._text)) is None:
                continue
            usual = self._rows.first(f"{kinds[best]} IS NOT NULL AND {sql} IS NULL", self._text)
            assert usual is not None, "the best kind fits at least as many rows"
            way_out = "Write all of them in one way, or name each format with a `time_format` of its own."
            if {best, other} == {_ZONED, _UNZONED}:
                way_out = "Nobody knows which comes first: give all times a zone, or none."
            raise self._error([usual, odd], f"formats are mixed: {{0}} is {best}, {{1}} is {other}. {way_out}")

    def _refuse_exchanged(self, day_first: str, month_first: str, kinds: Mapping[str, str]) -> None:
        """All dates could be read in two ways; that matters if symbols of a word change places."""
        one, other = kinds[day_first], kinds[month_first]
        before = "OVER (PARTITION BY c ORDER BY d, m)"
        changed = (
            f"SELECT r, lag(r) {before} AS q, m < lag(m) {before} AS swapped "
            f"FROM (SELECT c, r, {one} AS d, {other} AS m FROM ({self._rows.numbered}) WHERE {one} IS NOT NULL)"
        )
        found = self._rows.database.rows(
            f"SELECT least(q, r), greatest(q, r) FROM ({changed}) WHERE swapped ORDER BY 1 LIMIT 1"
        )
        if not found:
            return
        rows = [self._rows.first("r = ?", self._text, [number]) for number in found[0]]
        [(_, value), _] = places = [row for row in rows if row is not None]
        formats = [self._form_of(value, kind) for kind in (day_first, month_first)]
        raise self._error(
            places,
            f"{{0}} and {{1}} may be {day_first} or {month_first}, and their order depends on it. Say which: "
            f"`time_format='{formats[0]}'` or `time_format='{formats[1]}'`.",
        )

    def _form_of(self, value: str, kind: str) -> str:
        fits = ", ".join(_moment("$1", [form]) for form in _FORMS[kind])
        [found] = self._rows.database.rows(f"SELECT {fits}", [value])
        return next(form for form, moment in zip(_FORMS[kind], found, strict=True) if moment is not None)

    def _error(self, rows: Sequence[tuple[int, str]], told: str) -> DataFileError:
        """An error about some rows, which `told` speaks of as {0} and {1}."""
        files, numbers = zip(*(self._rows.place(number) for number, _ in rows), strict=True)
        names = [
            f"row {number}" if file == files[0] else f"row {number} of {file}"
            for file, number in zip(files, numbers, strict=True)
        ]
        quoted = [f"{name} ({value!r})" for name, (_, value) in zip(names, rows, strict=True)]
        where = f"{files[0]}, column {self._column!r}"
        return DataFileError(f"{where}: {told.format(*quoted)}", without_content=f"{where}: {told.format(*names)}")


def _moment(text: str, formats: Sequence[str]) -> str:
    """SQL for a time in one of some formats, in microseconds, or null. Years of two digits are no %Y."""
    listed = ", ".join(map(_literal, formats))
    moment = f"try_strptime(trim({text}), {listed if len(formats) == 1 else f'[{listed}]'})"
    return f"CASE WHEN {moment} >= TIMESTAMP '1000-01-01' THEN epoch_us({moment}) END"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
