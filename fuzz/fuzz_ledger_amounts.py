"""Amounts of a budget: what is charged is exactly what is printed, never less, and sums are exact."""

import atheris
from harness import fuzz, parsers

with parsers():
    from pathveil.ledger.amounts import amount_of, decimal_text


def read(data: bytes) -> None:
    given = atheris.FuzzedDataProvider(data)
    amounts = [amount_of(given.ConsumeFloat(), given.ConsumeProbability(), "a release") for _ in range(3)]
    for one in amounts:
        assert float(decimal_text(one.epsilon)) == float(one.epsilon)
        assert 0 <= one.epsilon.copy_abs() == one.epsilon
    first, second, third = amounts
    total = first.plus(second).plus(third)
    assert total.minus(third).minus(second) == first
    assert first.fits_in(total)
    assert not first.epsilon or not total.fits_in(second.plus(third))
    assert str(total)


fuzz(read)
