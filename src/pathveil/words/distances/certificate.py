"""Certified tilts with distances: the loss among feasible words is at most bρθ + K."""

from __future__ import annotations

from dataclasses import dataclass, field

from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import checked_length
from pathveil.words.distances.free import free_theta, symbol_loss
from pathveil.words.distances.prices import Prices


@dataclass(frozen=True)
class DistanceCertificate:
    """Why `loss` bounds the loss of the exponential mechanism with distances at `theta`, for the mechanism's unit.

    `run_bounds[r]` bounds the change of log Z over one run of r positions. `rho` is the largest cost of a move that
    the unit allows, `largest_cost` that of any move. Public throughout.
    """

    length: int
    up_to: bool
    adjacency: int
    theta: float
    loss: float
    rho: float
    largest_cost: float
    method: str
    run_bounds: dict[int, float] = field(default_factory=dict)
    contexts: int = 0
    protected_positions: float | None = None

    def loss_at(self, distance: int) -> float:
        """The loss between two feasible words that differ in up to this many symbols, however far these are apart."""
        return 2 * min(checked_length(distance), self.length) * self.largest_cost * self.theta * (1 + 1e-12)

    def __str__(self) -> str:
        lengths = f"up to {self.length}" if self.up_to else f"{self.length}"
        bounds = ", ".join(f"{r}: {bound:.4g}" for r, bound in self.run_bounds.items())
        change = f"change of log Z by length of run: {bounds}; " if bounds else ""
        return (
            f"words of length {lengths}, θ = {self.theta:.6g}, ρ = {self.rho:.4g}: loss at most {self.loss:.6g} for at "
            f"most {self.adjacency} ({change}{self.method})"
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
    theta, loss, bounds, method = prices.theta(epsilon, 2 * adjacency), epsilon, dict[int, float](), "published: 2bρθ"
    if compiled.is_free:
        theta = free_theta(prices, epsilon, adjacency)
        loss = min(adjacency * symbol_loss(prices, theta) * (1 + 1e-15), epsilon)
        method = "free alphabet: the exact loss of a symbol"
    return DistanceCertificate(
        length=length,
        up_to=up_to,
        adjacency=adjacency,
        theta=theta,
        loss=loss,
        rho=prices.rho,
        largest_cost=int(prices.costs.max(initial=0)) / prices.steps,
        method=method,
        run_bounds=bounds,
    )
