"""Certified tilts with distances: the loss among feasible words is at most bρθ + K."""

from __future__ import annotations

from dataclasses import dataclass

from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import checked_length
from pathveil.words.distances.certified.boxes import ChainBoxes
from pathveil.words.distances.free import free_theta, symbol_loss
from pathveil.words.distances.prices import Prices
from pathveil.words.distances.searching import largest_passing


@dataclass(frozen=True)
class DistanceCertificate:
    """Why `loss` bounds the loss of the exponential mechanism with distances at `theta`, for the mechanism's unit.

    `symbol_loss` bounds what one changed symbol loses, its cost and the change of log Z together: at most 2ρθ. `rho` is
    the largest cost of a move that the unit allows, `largest_cost` that of any move. Public throughout.
    """

    length: int
    up_to: bool
    adjacency: int
    theta: float
    loss: float
    symbol_loss: float
    rho: float
    largest_cost: float
    method: str

    def loss_at(self, distance: int) -> float:
        """The loss between two feasible words that differ in up to this many symbols, however far these are apart."""
        return 2 * min(checked_length(distance), self.length) * self.largest_cost * self.theta * (1 + 1e-12)

    def __str__(self) -> str:
        lengths = f"up to {self.length}" if self.up_to else f"{self.length}"
        return (
            f"words of length {lengths}, θ = {self.theta:.6g}, ρ = {self.rho:.4g}: loss at most {self.loss:.6g} for at "
            f"most {self.adjacency} ({self.symbol_loss:.4g} for each, where the cost alone loses "
            f"{self.rho * self.theta:.4g}; {self.method})"
        )


def distance_certificate(
    compiled: CompiledSystem,
    prices: Prices,
    length: int,
    epsilon: float,
    adjacency: int,
    *,
    up_to: bool,
    feasible: bool,
) -> DistanceCertificate:
    """The certificate with the largest θ we find; `feasible`: the promise is among feasible words."""
    lowest, highest = prices.theta(epsilon, 2 * adjacency), prices.theta(epsilon, adjacency)
    theta, method = lowest, "published calibration: infeasible words are accepted"
    each = epsilon / adjacency
    if compiled.is_free:
        theta, method = free_theta(prices, epsilon, adjacency), "free alphabet: the exact loss of a symbol"
        each = symbol_loss(prices, theta)
    elif feasible:
        boxes = ChainBoxes.of(compiled, prices, length, min(adjacency, length), up_to=up_to)
        if isinstance(boxes, str):
            method = f"published calibration: {boxes}"
        else:
            losses: dict[float, float] = {}

            def passes(tilt: float) -> bool:
                losses[tilt] = boxes.symbol_loss(tilt)
                return adjacency * losses[tilt] * (1 + 1e-12) <= epsilon

            theta = largest_passing(passes, lowest=lowest, highest=highest, tries=8, halvings=4)
            each, method = losses.get(theta, each), "certified"
    return DistanceCertificate(
        length=length,
        up_to=up_to,
        adjacency=adjacency,
        theta=theta,
        loss=min(adjacency * each * (1 + 1e-12), epsilon),
        symbol_loss=each,
        rho=prices.rho,
        largest_cost=int(prices.costs.max(initial=0)) / prices.steps,
        method=method,
    )
