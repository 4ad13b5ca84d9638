"""PathVeil releases symbolic trajectories and Markov models under differential privacy.

Everything public is here: `import pathveil as pv`. What a name stands for is loaded when it is first used, so that
`pathveil --help` need not wait for numerical libraries.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathveil.audit.exhaustive import ExhaustiveAudit, audit_exhaustively
    from pathveil.audit.statistical import StatisticalAudit, audit_jointly, audit_statistically
    from pathveil.audit.uniformity import UniformityAudit, audit_uniformity
    from pathveil.data.frames import (
        words_from_column,
        words_from_events,
        words_from_table,
        words_to_events,
        words_to_table,
    )
    from pathveil.errors import (
        BudgetExceededError,
        DamagedLedgerError,
        DataFileError,
        DeadEndError,
        EmptyWordError,
        InfeasibleWordError,
        InvalidCountsError,
        InvalidParameterError,
        InvalidSystemError,
        LedgerError,
        LengthMismatchError,
        NoFeasibleWordError,
        PathVeilError,
        ReducibleChainError,
        TooLargeError,
        UnitMismatchError,
        UnknownSymbolError,
        UnreachablePrivacyError,
    )
    from pathveil.ledger.ledger import Ledger
    from pathveil.models import published
    from pathveil.models.chain import PrivateChain, fit_private_chain
    from pathveil.models.compare import compare_models
    from pathveil.models.counting import WordCounts
    from pathveil.models.frequencies import (
        PrivateFrequencies,
        curator_errors,
        forecast_frequencies,
        private_frequencies,
    )
    from pathveil.models.matrix import PrivateMatrix, private_matrix
    from pathveil.privacy import units
    from pathveil.privacy.composition import ComposedProfile
    from pathveil.privacy.guarantee import Guarantee
    from pathveil.privacy.profile import DirichletProfile, concentration_for
    from pathveil.randomness.source import RandomSource, insecure_seed
    from pathveil.report.plots import (
        plot_belief,
        plot_chain,
        plot_distributions,
        plot_error_law,
        plot_expected_errors,
        plot_system,
    )
    from pathveil.systems.alphabet import Alphabet
    from pathveil.systems.automaton import Automaton
    from pathveil.systems.markov_chain import MarkovChain
    from pathveil.systems.system import System
    from pathveil.systems.town import example_town
    from pathveil.systems.transition_system import TransitionSystem
    from pathveil.words.bounds import permute_and_flip_bounds, permute_and_flip_tail_bound
    from pathveil.words.certificate import Certificate
    from pathveil.words.certified import CertifiedExponential
    from pathveil.words.choose import best_mechanism
    from pathveil.words.classes import ErrorClasses, error_classes
    from pathveil.words.distance_automaton import DistanceAutomaton
    from pathveil.words.edit_automaton import EditAutomaton
    from pathveil.words.edit_certificate import EditCertificate
    from pathveil.words.edit_certified import CertifiedEditExponential
    from pathveil.words.edit_classes import EditClasses, edit_classes
    from pathveil.words.edit_exponential import EditExponential
    from pathveil.words.edit_law import EditLaw
    from pathveil.words.edit_permute_and_flip import EditPermuteAndFlip
    from pathveil.words.exponential import Exponential
    from pathveil.words.law import ErrorLaw
    from pathveil.words.mechanism import WordMechanism
    from pathveil.words.online import Online, OnlineStream
    from pathveil.words.permute_and_flip import PermuteAndFlip
    from pathveil.words.utility import HammingUtility, InverseUtility

__version__ = "0.1.0"

__all__ = [
    "Alphabet",
    "Automaton",
    "BudgetExceededError",
    "Certificate",
    "CertifiedEditExponential",
    "CertifiedExponential",
    "ComposedProfile",
    "DamagedLedgerError",
    "DataFileError",
    "DeadEndError",
    "DirichletProfile",
    "DistanceAutomaton",
    "EditAutomaton",
    "EditCertificate",
    "EditClasses",
    "EditExponential",
    "EditLaw",
    "EditPermuteAndFlip",
    "EmptyWordError",
    "ErrorClasses",
    "ErrorLaw",
    "ExhaustiveAudit",
    "Exponential",
    "Guarantee",
    "HammingUtility",
    "InfeasibleWordError",
    "InvalidCountsError",
    "InvalidParameterError",
    "InvalidSystemError",
    "InverseUtility",
    "Ledger",
    "LedgerError",
    "LengthMismatchError",
    "MarkovChain",
    "NoFeasibleWordError",
    "Online",
    "OnlineStream",
    "PathVeilError",
    "PermuteAndFlip",
    "PrivateChain",
    "PrivateFrequencies",
    "PrivateMatrix",
    "RandomSource",
    "ReducibleChainError",
    "StatisticalAudit",
    "System",
    "TooLargeError",
    "TransitionSystem",
    "UniformityAudit",
    "UnitMismatchError",
    "UnknownSymbolError",
    "UnreachablePrivacyError",
    "WordCounts",
    "WordMechanism",
    "audit_exhaustively",
    "audit_jointly",
    "audit_statistically",
    "audit_uniformity",
    "best_mechanism",
    "compare_models",
    "concentration_for",
    "curator_errors",
    "edit_classes",
    "error_classes",
    "example_town",
    "fit_private_chain",
    "forecast_frequencies",
    "insecure_seed",
    "permute_and_flip_bounds",
    "permute_and_flip_tail_bound",
    "plot_belief",
    "plot_chain",
    "plot_distributions",
    "plot_error_law",
    "plot_expected_errors",
    "plot_system",
    "private_frequencies",
    "private_matrix",
    "published",
    "units",
    "words_from_column",
    "words_from_events",
    "words_from_table",
    "words_to_events",
    "words_to_table",
]

_HOMES = {
    "pathveil.audit.exhaustive": ("ExhaustiveAudit", "audit_exhaustively"),
    "pathveil.audit.statistical": ("StatisticalAudit", "audit_jointly", "audit_statistically"),
    "pathveil.audit.uniformity": ("UniformityAudit", "audit_uniformity"),
    "pathveil.data.frames": (
        "words_from_column",
        "words_from_events",
        "words_from_table",
        "words_to_events",
        "words_to_table",
    ),
    "pathveil.errors": (
        "BudgetExceededError",
        "DamagedLedgerError",
        "DataFileError",
        "DeadEndError",
        "EmptyWordError",
        "InfeasibleWordError",
        "InvalidCountsError",
        "InvalidParameterError",
        "InvalidSystemError",
        "LedgerError",
        "LengthMismatchError",
        "NoFeasibleWordError",
        "PathVeilError",
        "ReducibleChainError",
        "TooLargeError",
        "UnitMismatchError",
        "UnknownSymbolError",
        "UnreachablePrivacyError",
    ),
    "pathveil.ledger.ledger": ("Ledger",),
    "pathveil.models": ("published",),
    "pathveil.models.chain": ("PrivateChain", "fit_private_chain"),
    "pathveil.models.compare": ("compare_models",),
    "pathveil.models.counting": ("WordCounts",),
    "pathveil.models.frequencies": (
        "PrivateFrequencies",
        "curator_errors",
        "forecast_frequencies",
        "private_frequencies",
    ),
    "pathveil.models.matrix": ("PrivateMatrix", "private_matrix"),
    "pathveil.privacy": ("units",),
    "pathveil.privacy.composition": ("ComposedProfile",),
    "pathveil.privacy.guarantee": ("Guarantee",),
    "pathveil.privacy.profile": ("DirichletProfile", "concentration_for"),
    "pathveil.randomness.source": ("RandomSource", "insecure_seed"),
    "pathveil.report.plots": (
        "plot_belief",
        "plot_chain",
        "plot_distributions",
        "plot_error_law",
        "plot_expected_errors",
        "plot_system",
    ),
    "pathveil.systems.alphabet": ("Alphabet",),
    "pathveil.systems.automaton": ("Automaton",),
    "pathveil.systems.markov_chain": ("MarkovChain",),
    "pathveil.systems.system": ("System",),
    "pathveil.systems.town": ("example_town",),
    "pathveil.systems.transition_system": ("TransitionSystem",),
    "pathveil.words.bounds": ("permute_and_flip_bounds", "permute_and_flip_tail_bound"),
    "pathveil.words.certificate": ("Certificate",),
    "pathveil.words.certified": ("CertifiedExponential",),
    "pathveil.words.choose": ("best_mechanism",),
    "pathveil.words.classes": ("ErrorClasses", "error_classes"),
    "pathveil.words.distance_automaton": ("DistanceAutomaton",),
    "pathveil.words.edit_automaton": ("EditAutomaton",),
    "pathveil.words.edit_certificate": ("EditCertificate",),
    "pathveil.words.edit_certified": ("CertifiedEditExponential",),
    "pathveil.words.edit_classes": ("EditClasses", "edit_classes"),
    "pathveil.words.edit_exponential": ("EditExponential",),
    "pathveil.words.edit_law": ("EditLaw",),
    "pathveil.words.edit_permute_and_flip": ("EditPermuteAndFlip",),
    "pathveil.words.exponential": ("Exponential",),
    "pathveil.words.law": ("ErrorLaw",),
    "pathveil.words.mechanism": ("WordMechanism",),
    "pathveil.words.online": ("Online", "OnlineStream"),
    "pathveil.words.permute_and_flip": ("PermuteAndFlip",),
    "pathveil.words.utility": ("HammingUtility", "InverseUtility"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # a type checker reads the imports above, and so still notices a misspelt name

    def __getattr__(name: str) -> Any:
        """Load a public name from the module where it lives."""
        if name not in _HOME_OF:
            raise AttributeError(f"module 'pathveil' has no attribute {name!r}")
        home = import_module(_HOME_OF[name])
        value = getattr(home, name) if hasattr(home, name) else import_module(f"{home.__name__}.{name}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
