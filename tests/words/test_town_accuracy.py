"""The accuracy claims on the bundled 43-segment town: n = 14, b = 1, averaged over 20 trips."""

import numpy as np
import pytest

import pathveil as pv

EPSILONS = (2.0, 5.0, 8.0)
ALL_EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)


@pytest.fixture(scope="module", params=[EPSILONS, pytest.param(ALL_EPSILONS, marks=pytest.mark.slow)], ids=str)
def curves(request: pytest.FixtureRequest) -> dict[str, np.ndarray]:
    town = pv.example_town()
    source = pv.insecure_seed(43)
    trips = [town.random_word(14, source) for _ in range(20)]

    def curve(kind: type[pv.WordMechanism]) -> np.ndarray:
        return np.array([np.mean([m.error_law(t).mean for t in trips]) for m in (kind(town, e) for e in request.param)])

    kinds = (pv.CertifiedExponential, pv.PermuteAndFlip, pv.Exponential, pv.Online)
    return {kind.__name__: curve(kind) for kind in kinds}


@pytest.mark.parametrize("curves", [EPSILONS], indirect=True)
def test_certified_errs_at_most_an_eighth_as_often_as_permute_and_flip_at_epsilon_5(curves: dict) -> None:
    at = EPSILONS.index(5.0)
    assert curves["CertifiedExponential"][at] <= curves["PermuteAndFlip"][at] / 8


def test_certified_is_at_least_as_good_at_every_epsilon_and_every_curve_falls(curves: dict) -> None:
    assert (curves["CertifiedExponential"] <= curves["PermuteAndFlip"]).all()
    for curve in curves.values():
        assert (np.diff(curve) < 0).all()


def test_permute_and_flip_stays_between_half_of_the_exponential_mechanism_and_all_of_it(curves: dict) -> None:
    ratio = curves["PermuteAndFlip"] / curves["Exponential"]
    assert ((ratio >= 0.5) & (ratio <= 1)).all()
