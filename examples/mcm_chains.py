"""Two real Markov chains after MCM's Section 6.2, and how far privacy moves their stationary distributions.

Used by `mcm_figures.py`. The data are not part of this repository: they are looked for in the folder that the
environment variable PATHVEIL_DATA names, otherwise in `shared/data` beside the repository. Reading needs `pyarrow`.

- *Flights*: 3,000,000 flights in the USA, January to June 2001. The states are the 39 largest airports and "elsewhere".
- *Taxis*: a sample of 360,000 trips of yellow taxis in New York, 2018 to 2020, those within Manhattan. MCM has a whole
  month of 2025 with eight times as many. As in MCM, small zones are merged with their neighbours.

MCM assumes that everybody knows which transitions can occur, that each of them has occurred, and each row's smallest
frequency, η. So that its accounting can be shown at all, we grant it all three, to every method alike but for η, which
only the papers' mode uses: what is private here is private *given* that knowledge. For flights the routes stand for a
timetable: those flown at least 50 times in the half-year, the few others being left out.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pathveil as pv
from pathveil.models.dirichlet import draw_dirichlet
from pathveil.numerics.arrays import FloatArray


def data_folder() -> Path:
    return Path(os.environ.get("PATHVEIL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


LARGEST_AIRPORTS = 39
TIMETABLED = 50

# Neighbourhoods of Manhattan by the numbers of their taxi zones: drawn by hand for this demonstration, after a look at
# which zones are small. Islands without a bridge for taxis are left out, as in MCM.
NEIGHBOURHOODS = {
    "Financial District": (12, 13, 87, 88, 209, 261),
    "TriBeCa, SoHo": (125, 144, 211, 231),
    "Lower East Side": (4, 45, 79, 148, 224, 232),
    "West Village": (113, 114, 158, 249),
    "Chelsea": (68, 246),
    "Flatiron, Union Sq": (90, 234),
    "Gramercy, Kips Bay": (107, 137),
    "Garment, Penn Station": (100, 164, 186),
    "Murray Hill, Turtle Bay": (170, 229, 233),
    "Times Sq, Clinton": (48, 50, 230),
    "Midtown": (161, 162, 163),
    "Lincoln Sq, Central Park": (43, 142, 143),
    "Lenox Hill": (140, 141),
    "Upper East Side": (236, 237),
    "Yorkville": (262, 263),
    "Upper West Side": (24, 151, 238, 239),
    "Harlem": (41, 42, 74, 75),
    "Uptown West": (116, 120, 127, 128, 152, 153, 166, 243, 244),
}


@dataclass(frozen=True, eq=False)
class RealChain:
    """Transition counts, with the routes that have a count as the (public) support."""

    name: str
    states: tuple[str, ...]
    counts: np.ndarray

    @property
    def support(self) -> np.ndarray:
        return self.counts > 0

    @property
    def records(self) -> np.ndarray:
        return np.asarray(self.counts.sum(axis=1))

    @property
    def matrix(self) -> FloatArray:
        return np.asarray(self.counts / self.records[:, None])

    @property
    def floors(self) -> FloatArray:
        """MCM's η, row by row: the smallest frequency. Read off the data, as MCM does; nobody else should."""
        return np.asarray(np.where(self.support, self.matrix, 1.0).min(axis=1))

    @property
    def stationary_distribution(self) -> FloatArray:
        return np.asarray(pv.MarkovChain.from_counts(self.states, self.counts).stationary_distribution)


def flights() -> RealChain:
    columns = _columns("flights3m_od.parquet", "o", "d")
    names = [line.split(",")[1] for line in (data_folder() / "flights3m_vocab.csv").read_text().split()[1:]]
    traffic = np.bincount(columns.ravel(), minlength=len(names))
    large = np.sort(np.argsort(-traffic)[:LARGEST_AIRPORTS])
    code = np.full(len(names), len(large))
    code[large] = np.arange(len(large))
    counts = _tally(code[columns], len(large) + 1)
    counts[counts < TIMETABLED] = 0
    return RealChain("US flights, 2001", (*(names[i] for i in large), "elsewhere"), counts)


def taxis() -> RealChain:
    columns = _columns("yellow_sample_2018_2020_od.parquet", "pu", "do")
    code = np.full(columns.max() + 1, -1)
    for i, zones in enumerate(NEIGHBOURHOODS.values()):
        code[list(zones)] = i
    codes = code[columns]
    counts = _tally(codes[(codes >= 0).all(axis=1)], len(NEIGHBOURHOODS))
    return RealChain("New York taxis, 2018–2020 (sample)", tuple(NEIGHBOURHOODS), counts)


def _columns(file: str, *names: str) -> np.ndarray:
    import pyarrow.parquet as parquet

    table = parquet.read_table(data_folder() / file, columns=list(names))
    return np.column_stack([table[name].to_numpy() for name in names])


def _tally(codes: np.ndarray, size: int) -> np.ndarray:
    return np.bincount(codes[:, 0] * size + codes[:, 1], minlength=size * size).reshape(size, size)


# ------------------------------------------------------------------------------------------------- Accountings


def published_concentration(epsilon: float, delta: float, eta: float, N: int, n: int) -> float:
    """The least noise that MCM (3) and (4) let a row have at (ε, δ), γ chosen at its best; NaN if there is none.

    MCM keeps γ at 1e-8 and so does worse. Assumption 4, k ≥ 3/(2η), is part of the theorem: below it nothing is
    claimed.
    """
    from scipy import optimize, special

    def room(log_k: float) -> float:
        k = math.exp(log_k)
        gamma = float(special.betaincinv(k * eta, k * (1 - eta), delta / n))  # the union bound; n-1 entries are at η
        return epsilon - pv.published.mcm_epsilon(k, eta, N, n, gamma)

    low, high = math.log(1.5 / eta), math.log(1e6 / eta)
    if room(low) < 0:
        return math.nan
    return math.exp(optimize.brentq(room, low, high))


def mcm_as_run(chain: RealChain, times: float = 1.0, gamma: float = 1e-8) -> tuple[float, float, FloatArray]:
    """ε, δ and the concentrations of MCM's own simulation: `times` the least that Assumption 4 allows, in every row."""
    k = times * 1.5 / chain.floors
    rows = list(zip(k, chain.floors, chain.records.tolist(), chain.support.sum(axis=1).tolist(), strict=True))
    epsilon = max(pv.published.mcm_epsilon(k_i, eta, N, n, gamma) for k_i, eta, N, n in rows)
    return epsilon, max(pv.published.mcm_delta(k_i, eta, n, gamma) for k_i, eta, _, n in rows), k


# ------------------------------------------------------------------------------------------------- One release

Release = Callable[[RealChain, float, float, pv.RandomSource], pv.MarkovChain | None]


def published_release(chain: RealChain, epsilon: float, delta: float, rng: pv.RandomSource) -> pv.MarkovChain | None:
    """MCM Algorithm 2 with MCM's accounting; None where a row cannot have it."""
    rows = zip(chain.floors, chain.records.tolist(), chain.support.sum(axis=1).tolist(), strict=True)
    k = np.array([published_concentration(epsilon, delta, eta, N, n) for eta, N, n in rows])
    return None if np.isnan(k).any() else draw_chain(chain, k, rng)


def exact_release(chain: RealChain, epsilon: float, delta: float, rng: pv.RandomSource) -> pv.MarkovChain | None:
    """MCM Algorithm 2, at MCM's own floors, with the exact profile; None where a row cannot have it."""
    try:
        rows = zip(chain.floors.tolist(), chain.records.tolist(), strict=True)
        k = np.array([pv.concentration_for(epsilon, delta, eta, 1 / N) for eta, N in rows])
    except pv.UnreachablePrivacyError:
        return None
    return draw_chain(chain, k, rng)


def draw_chain(chain: RealChain, k: FloatArray, rng: pv.RandomSource) -> pv.MarkovChain:
    return pv.MarkovChain.from_counts(chain.states, draw_dirichlet(rng, k[:, None] * chain.matrix))


def library_release(mechanism: str) -> Release:
    def release(chain: RealChain, epsilon: float, delta: float, rng: pv.RandomSource) -> pv.MarkovChain:
        return pv.fit_private_chain(
            chain.counts,
            states=chain.states,
            support=chain.support,
            epsilon=epsilon,
            delta=delta,
            mechanism=mechanism,  # type: ignore[arg-type]
            rng=rng,
        ).chain

    return release


METHODS: dict[str, Release] = {
    "published": published_release,
    "exact": exact_release,
    "large floor": library_release("dirichlet"),
    "gaussian": library_release("gaussian"),
    "laplace": library_release("laplace"),
}


def stationary_error(
    chain: RealChain, method: str, epsilon: float, delta: float, draws: int, seed: int = 1
) -> tuple[float, float]:
    """The mean total-variation distance of private stationary distributions from the true one; its standard error.

    NaN where the method cannot make the promise.
    """
    rng, truth, errors = pv.insecure_seed(seed), chain.stationary_distribution, []
    for _ in range(draws):
        private = METHODS[method](chain, epsilon, delta, rng)
        if private is None:
            return math.nan, math.nan
        errors.append(np.abs(private.stationary_distribution - truth).sum() / 2)
    return float(np.mean(errors)), float(np.std(errors) / math.sqrt(draws))
