"""What control researchers release: decision processes and doubly stochastic matrices (the papers' future work).

`fit_private_mdp` goes through the steps: `steps` counts, `request` is the promise, `fit` draws, `private_mdp` is the
model, `value_error` says what it may cost; `process` has the shapes of other libraries. `doubly_stochastic` releases
matrices, with `birkhoff` (which ones a support allows), `projection` (back to one of them) and `consensus` (weights of
averaging on a graph).
"""

from pathveil.models.control.doubly_stochastic import (
    PrivateDoublyStochastic,
    convergence_factor,
    private_doubly_stochastic,
)
from pathveil.models.control.fit import fit_private_mdp
from pathveil.models.control.mdp_file import is_mdp
from pathveil.models.control.private_mdp import PrivateMDP
from pathveil.models.control.process import DecisionProcess, Policy
from pathveil.models.control.request import USUAL_SHARE, MdpRequest, MdpUnit
from pathveil.models.control.steps import StepCounts, count_steps

__all__ = [
    "USUAL_SHARE",
    "DecisionProcess",
    "MdpRequest",
    "MdpUnit",
    "Policy",
    "PrivateDoublyStochastic",
    "PrivateMDP",
    "StepCounts",
    "convergence_factor",
    "count_steps",
    "fit_private_mdp",
    "is_mdp",
    "private_doubly_stochastic",
]
