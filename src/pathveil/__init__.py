"""PathVeil releases symbolic trajectories and Markov models under differential privacy.

Everything public is here: `import pathveil as pv`.
"""

from pathveil.errors import (
    DeadEndError,
    EmptyWordError,
    InfeasibleWordError,
    InvalidCountsError,
    InvalidParameterError,
    InvalidSystemError,
    LengthMismatchError,
    NoFeasibleWordError,
    PathVeilError,
    ReducibleChainError,
    TooLargeError,
    UnknownSymbolError,
    UnreachablePrivacyError,
)
from pathveil.models import published
from pathveil.models.chain import PrivateChain, fit_private_chain
from pathveil.models.compare import compare_models
from pathveil.models.frequencies import PrivateFrequencies, curator_errors, forecast_frequencies, private_frequencies
from pathveil.models.matrix import PrivateMatrix, private_matrix
from pathveil.privacy.composition import ComposedProfile
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.profile import DirichletProfile, concentration_for
from pathveil.randomness.source import RandomSource, insecure_seed
from pathveil.systems.alphabet import Alphabet
from pathveil.systems.automaton import Automaton
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import System
from pathveil.systems.transition_system import TransitionSystem

__version__ = "0.1.0"

__all__ = [
    "Alphabet",
    "Automaton",
    "ComposedProfile",
    "DeadEndError",
    "DirichletProfile",
    "EmptyWordError",
    "Guarantee",
    "InfeasibleWordError",
    "InvalidCountsError",
    "InvalidParameterError",
    "InvalidSystemError",
    "LengthMismatchError",
    "MarkovChain",
    "NoFeasibleWordError",
    "PathVeilError",
    "PrivateChain",
    "PrivateFrequencies",
    "PrivateMatrix",
    "RandomSource",
    "ReducibleChainError",
    "System",
    "TooLargeError",
    "TransitionSystem",
    "UnknownSymbolError",
    "UnreachablePrivacyError",
    "compare_models",
    "concentration_for",
    "curator_errors",
    "fit_private_chain",
    "forecast_frequencies",
    "insecure_seed",
    "private_frequencies",
    "private_matrix",
    "published",
]
