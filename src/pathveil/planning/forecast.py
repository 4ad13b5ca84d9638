"""What every mechanism would do on a public system, before any data are read: `pv.forecast`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pathveil.errors import DeadEndError, InvalidParameterError, InvalidSystemError, TooLargeError
from pathveil.markup import Html, card, table
from pathveil.numerics.long_work import LongWork
from pathveil.planning.distances import Measured, public_distances
from pathveil.planning.effort import edit_efforts, memory_for_a_batch, seconds_for_a_word
from pathveil.planning.error_curves import fewest
from pathveil.planning.lower_bound import LowerBound, least_expected_errors
from pathveil.planning.public_words import average_law, mean_errors, public_edit_counts, public_words
from pathveil.systems.symbol_distance import SymbolDistance
from pathveil.systems.system import System, checked_length
from pathveil.words.base import ErrorLaw, WordMechanism
from pathveil.words.by_name import EDIT_MECHANISMS, MECHANISMS
from pathveil.words.certified import CertifiedExponential
from pathveil.words.distances import DistanceLaw, DistanceMechanism
from pathveil.words.edit import EditMechanism

CANNOT_BE_USED = (DeadEndError, InvalidSystemError, TooLargeError)
"""What a mechanism raises that does not suit a system."""

CONTEXTS = 4_000
"""Quick certificates: a release takes longer over them (40,000), which can only help."""

_QUANTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, eq=False)
class MechanismForecast:
    """One mechanism at one ε, on words of one length.

    `expected_errors` is exact for each word and averaged over feasible words of the public system (all words are alike
    on a free alphabet); `law` is the law of the errors of such a word. `lower_bound`: no mechanism has fewer expected
    errors, averaged over all feasible words. `seconds`, the processor time to draw a word of a large batch, and
    `memory`, the bytes that each processor needs meanwhile, are estimates from public sizes; they were measured on one
    machine (planning/effort.py). With edit distance, errors are edits, there is no lower bound, and time and memory are
    those of a word that has not occurred before.
    """

    mechanism: str
    epsilon: float
    expected_errors: float
    law: ErrorLaw
    theta: float
    unit: str
    lower_bound: float | None = None
    seconds: float | None = None
    memory: int | None = None
    distances: DistanceLaw | None = None
    """With distances between symbols: how far a private symbol is from the true one."""

    @property
    def expected_distance(self) -> float | None:
        """The mean of that, in the units of the coordinates."""
        return None if self.distances is None else self.distances.mean

    @property
    def quantiles(self) -> dict[float, int]:
        """{q: the number of errors that a share q of the private words does not exceed}, for q of 50%, 90% and 99%."""
        return {q: self.law.quantile(q) for q in _QUANTILES}

    def __repr__(self) -> str:
        said = [f"{self.expected_errors:.4g} expected errors"]
        said += [f"at most {errors} in {q:.0%}" for q, errors in self.quantiles.items()]
        if self.distances is not None:
            said.append(f"{self.distances.mean:.4g} away, {self.distances.quantile(0.9):.4g} in {0.9:.0%}")
        if self.lower_bound is not None:
            said.append(f"lower bound {self.lower_bound:.4g}")
        if self.seconds is not None and self.memory is not None:
            said.append(f"about {self.seconds:.0e} s a word and {self.memory / 1e6:.0f} MB")
        return f"{self.mechanism}: {', '.join(said)}"


@dataclass(frozen=True, eq=False)
class Forecast:
    """One row for each mechanism that can be used; `unusable` says of the others why not.

    `bound` is the lower bound for every mechanism on all feasible words, with how it was found; None for edit distance.
    """

    world: System
    length: int
    epsilon: float
    adjacency: int
    rows: tuple[MechanismForecast, ...]
    unusable: Mapping[str, str]
    bound: LowerBound | None

    @property
    def best(self) -> MechanismForecast:
        """The row with the fewest errors, or the smallest distance; of equal ones (but for rounding) the first."""
        if not self.rows:
            raise TooLargeError(f"no mechanism can be used here: {next(iter(self.unusable.values()))}")
        by_distance = all(row.distances is not None for row in self.rows)
        errors = {row.mechanism: row.expected_distance if by_distance else row.expected_errors for row in self.rows}
        return self[str(fewest(errors))]

    def __iter__(self) -> Iterator[MechanismForecast]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, mechanism: str) -> MechanismForecast:
        """The row of a mechanism, by its name."""
        for row in self.rows:
            if row.mechanism == mechanism:
                return row
        raise KeyError(self.unusable.get(mechanism, mechanism))

    def __repr__(self) -> str:
        return "\n".join([self._title, *map(repr, self.rows), *self._remarks])

    def _repr_html_(self) -> Html:
        headers = ["mechanism", "expected errors", *(f"{q:.0%} have at most" for q in _QUANTILES), "seconds", "memory"]
        cells = [
            [
                row.mechanism,
                f"{row.expected_errors:.4g}",
                *row.quantiles.values(),
                "" if row.seconds is None else f"{row.seconds:.0e}",
                "" if row.memory is None else f"{row.memory / 1e6:.0f} MB",
            ]
            for row in self.rows
        ]
        facts = [("lower bound", "" if self.bound is None else f"{self.bound.errors:.4g}")]
        return card(self._title, facts, table("forecast", headers, cells))

    @property
    def _title(self) -> str:
        return f"Forecast for words of {self.length} symbols at ε = {self.epsilon:g}, adjacency {self.adjacency}"

    @property
    def _remarks(self) -> list[str]:
        return [f"{name} cannot be used here: {why}" for name, why in self.unusable.items()]


def forecast(
    world: System,
    length: int,
    epsilon: float,
    adjacency: int = 1,
    *,
    lengths: tuple[int, int] | None = None,
    cap: int | None = None,
    distance: SymbolDistance | None = None,
    within: float | None = None,
    quick: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Forecast:
    """Every mechanism on words of this length: errors, what no mechanism can do better, time and memory.

    Only public quantities are used, so you may look as often as you like, and choose by what you see.

    With a `distance` between symbols, rows have `expected_distance` and `distances.quantile(q)`, and no lower bound.
    With `quick`, certificates take little time; what a release proves can only be better.
    `lengths` and `cap` ask for the mechanisms for edit distance instead (see `EditExponential`); `progress` is called
    with the number of mechanisms that are done. Raises `NoFeasibleWordError` if the system has no word of this length.

    >>> import pathveil as pv
    >>> rows = pv.forecast(pv.Alphabet("abc"), length=14, epsilon=5.0, adjacency=1)
    >>> for row in rows:
    ...     print(f"{row.mechanism:16} {row.expected_errors:.3f} {row.quantiles[0.9]} {row.lower_bound:.3f}")
    certified        0.186 1 0.186
    permute-and-flip 1.936 4 0.186
    exponential      1.974 4 0.186
    online           0.186 1 0.186
    >>> rows.best.mechanism
    'certified'
    """
    length = checked_length(length)
    world.require_words(length)
    if distance is None and within is not None:
        raise InvalidParameterError("`within` needs a distance between symbols: pass `distance=…`, too")
    measured = None if distance is None else Measured(distance, within)
    found: list[MechanismForecast] = []
    unusable: dict[str, str] = {}
    names = list(MECHANISMS if lengths is None else EDIT_MECHANISMS)
    work = LongWork(f"the forecast for words of {length} symbols at ε = {epsilon:g}", len(names))
    for done, name in enumerate(names, start=1):
        try:
            found.append(forecast_mechanism(world, name, length, epsilon, adjacency, lengths, cap, measured, quick))
        except CANNOT_BE_USED as problem:
            unusable[name] = str(problem)
        work.part_done()
        if progress is not None:
            progress(done)
    bound = None
    if lengths is None and measured is None:
        bound = least_expected_errors(world, length, epsilon, adjacency)
        # The bound is about all feasible words, the rows about some of them, which may be easier than the average.
        least = min((row.expected_errors for row in found), default=bound.errors)
        found = [replace(row, lower_bound=min(bound.errors, least)) for row in found]
    return Forecast(world, length, epsilon, adjacency, tuple(found), unusable, bound)


def forecast_mechanism(
    world: System,
    name: str,
    length: int,
    epsilon: float,
    adjacency: int,
    lengths: tuple[int, int] | None = None,
    cap: int | None = None,
    measured: Measured | None = None,
    quick: bool = False,
) -> MechanismForecast:
    """One row, without the lower bound. Raises one of CANNOT_BE_USED where the mechanism does not suit the system."""
    mechanism: WordMechanism
    if lengths is None:
        options = {} if measured is None else measured.options
        mechanism = (quick_mechanism if quick else _by_name)(world, name, epsilon, adjacency, options)
    else:
        mechanism = EDIT_MECHANISMS[name](world, epsilon, adjacency, lengths, cap)
    distances = None
    try:
        if measured is not None and isinstance(mechanism, DistanceMechanism):
            distances = public_distances(mechanism, length)
        if isinstance(mechanism, EditMechanism):
            counted = public_edit_counts(world, mechanism.lengths, mechanism.cap, length)
            laws: list[ErrorLaw] = [mechanism.law_from(counts) for counts in counted]
        else:
            laws = [mechanism.error_law(word) for word in public_words(world, length)]
    except TooLargeError:
        raise TooLargeError("the exact expectation would take too much memory") from None
    theta = mechanism.theta(length)
    seconds, memory = None, None
    if measured is not None:
        pass  # the estimates were measured without distances
    elif lengths is None:
        seconds, memory = (
            seconds_for_a_word(name, world.compiled, length, theta),
            memory_for_a_batch(name, world.compiled, length, theta),
        )
    else:
        effort = edit_efforts(world, lengths, length).at(mechanism.cap or length)
        seconds, memory = effort.seconds, int(effort.memory)
    return MechanismForecast(
        mechanism=name,
        epsilon=mechanism.epsilon,
        expected_errors=mean_errors(laws),
        law=average_law(laws),
        theta=theta,
        unit=mechanism.guarantee.unit,
        seconds=seconds,
        memory=memory,
        distances=distances,
    )


def quick_mechanism(
    world: System, name: str, epsilon: float, adjacency: int, options: Mapping[str, Any]
) -> WordMechanism:
    """A mechanism by its name, with a quick certificate where it has one."""
    if name == "certified":
        return CertifiedExponential(world, epsilon, adjacency, contexts=CONTEXTS, **options)
    return _by_name(world, name, epsilon, adjacency, options)


def _by_name(world: System, name: str, epsilon: float, adjacency: int, options: Mapping[str, Any]) -> WordMechanism:
    return MECHANISMS[name](world, epsilon, adjacency, **options)
