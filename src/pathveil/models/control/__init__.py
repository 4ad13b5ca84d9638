"""What control researchers release: decision processes and doubly stochastic matrices (the papers' future work)."""

from pathveil.models.control.doubly_stochastic import (
    PrivateDoublyStochastic,
    convergence_factor,
    private_doubly_stochastic,
)

__all__ = ["PrivateDoublyStochastic", "convergence_factor", "private_doubly_stochastic"]
