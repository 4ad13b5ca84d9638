"""PathVeil releases symbolic trajectories and Markov models under differential privacy.

Everything public is here: `import pathveil as pv`. What a name stands for is loaded when it is first used, so that
`pathveil --help` need not wait for numerical libraries.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

# The one list of public names. A type checker takes these imports as done (`as` says that the name is handed on). They
# never are: when a name is first asked for, the code below reads in this list where it lives, and loads that file.
if TYPE_CHECKING:
    from pathveil import places as places
    from pathveil.audit.exhaustive import ExhaustiveAudit as ExhaustiveAudit
    from pathveil.audit.exhaustive import audit_exhaustively as audit_exhaustively
    from pathveil.audit.sequences import audit_sequences as audit_sequences
    from pathveil.audit.statistical import StatisticalAudit as StatisticalAudit
    from pathveil.audit.statistical import audit_jointly as audit_jointly
    from pathveil.audit.statistical import audit_statistically as audit_statistically
    from pathveil.audit.uniformity import UniformityAudit as UniformityAudit
    from pathveil.audit.uniformity import audit_uniformity as audit_uniformity
    from pathveil.data.frames import words_from_column as words_from_column
    from pathveil.data.frames import words_from_events as words_from_events
    from pathveil.data.frames import words_from_table as words_from_table
    from pathveil.data.frames import words_to_events as words_to_events
    from pathveil.data.frames import words_to_table as words_to_table
    from pathveil.errors import BudgetExceededError as BudgetExceededError
    from pathveil.errors import DamagedLedgerError as DamagedLedgerError
    from pathveil.errors import DataFileError as DataFileError
    from pathveil.errors import DeadEndError as DeadEndError
    from pathveil.errors import EmptyWordError as EmptyWordError
    from pathveil.errors import InfeasibleWordError as InfeasibleWordError
    from pathveil.errors import InvalidCountsError as InvalidCountsError
    from pathveil.errors import InvalidParameterError as InvalidParameterError
    from pathveil.errors import InvalidSystemError as InvalidSystemError
    from pathveil.errors import LedgerError as LedgerError
    from pathveil.errors import LengthMismatchError as LengthMismatchError
    from pathveil.errors import NoFeasibleWordError as NoFeasibleWordError
    from pathveil.errors import PathVeilError as PathVeilError
    from pathveil.errors import ReducibleChainError as ReducibleChainError
    from pathveil.errors import TooLargeError as TooLargeError
    from pathveil.errors import UnitMismatchError as UnitMismatchError
    from pathveil.errors import UnknownSymbolError as UnknownSymbolError
    from pathveil.errors import UnreachablePrivacyError as UnreachablePrivacyError
    from pathveil.ledger.ledger import Ledger as Ledger
    from pathveil.models import published as published
    from pathveil.models.chain import PrivateChain as PrivateChain
    from pathveil.models.chain import fit_private_chain as fit_private_chain
    from pathveil.models.control import DecisionProcess as DecisionProcess
    from pathveil.models.control import PrivateDoublyStochastic as PrivateDoublyStochastic
    from pathveil.models.control import PrivateMDP as PrivateMDP
    from pathveil.models.control import StepCounts as StepCounts
    from pathveil.models.control import convergence_factor as convergence_factor
    from pathveil.models.control import count_steps as count_steps
    from pathveil.models.control import fit_private_mdp as fit_private_mdp
    from pathveil.models.control import private_doubly_stochastic as private_doubly_stochastic
    from pathveil.models.counting import WordCounts as WordCounts
    from pathveil.models.frequencies import PrivateFrequencies as PrivateFrequencies
    from pathveil.models.frequencies import curator_errors as curator_errors
    from pathveil.models.frequencies import forecast_frequencies as forecast_frequencies
    from pathveil.models.frequencies import private_frequencies as private_frequencies
    from pathveil.models.matrix import PrivateMatrix as PrivateMatrix
    from pathveil.models.matrix import private_matrix as private_matrix
    from pathveil.models.saved_model import load_model as load_model
    from pathveil.models.sequences import PrivateSequences as PrivateSequences
    from pathveil.models.sequences import PrivateSequencesByGroup as PrivateSequencesByGroup
    from pathveil.models.sequences import SequencesForecast as SequencesForecast
    from pathveil.models.sequences import fit_private_sequences as fit_private_sequences
    from pathveil.models.sequences import fit_private_sequences_by_group as fit_private_sequences_by_group
    from pathveil.models.sequences import forecast_sequences as forecast_sequences
    from pathveil.places.metrics import TripMetrics as TripMetrics
    from pathveil.places.metrics import trip_metrics as trip_metrics
    from pathveil.planning.choose import best_mechanism as best_mechanism
    from pathveil.planning.compare_models import compare_models as compare_models
    from pathveil.planning.distances import radius_curve as radius_curve
    from pathveil.planning.forecast import Forecast as Forecast
    from pathveil.planning.forecast import MechanismForecast as MechanismForecast
    from pathveil.planning.forecast import forecast as forecast
    from pathveil.privacy import units as units
    from pathveil.privacy.composition import ComposedProfile as ComposedProfile
    from pathveil.privacy.guarantee import Guarantee as Guarantee
    from pathveil.privacy.profile import DirichletProfile as DirichletProfile
    from pathveil.privacy.profile import concentration_for as concentration_for
    from pathveil.randomness.source import RandomSource as RandomSource
    from pathveil.randomness.source import insecure_seed as insecure_seed
    from pathveil.report.maps import plot_map as plot_map
    from pathveil.report.plots import plot_belief as plot_belief
    from pathveil.report.plots import plot_chain as plot_chain
    from pathveil.report.plots import plot_directly_follows as plot_directly_follows
    from pathveil.report.plots import plot_distributions as plot_distributions
    from pathveil.report.plots import plot_error_law as plot_error_law
    from pathveil.report.plots import plot_expected_errors as plot_expected_errors
    from pathveil.report.plots import plot_system as plot_system
    from pathveil.systems.alphabet import Alphabet as Alphabet
    from pathveil.systems.automaton import Automaton as Automaton
    from pathveil.systems.examples import example_city as example_city
    from pathveil.systems.examples import example_town as example_town
    from pathveil.systems.markov_chain import MarkovChain as MarkovChain
    from pathveil.systems.symbol_distance import SymbolDistance as SymbolDistance
    from pathveil.systems.system import System as System
    from pathveil.systems.transition_system import TransitionSystem as TransitionSystem
    from pathveil.words.automata import DistanceAutomaton as DistanceAutomaton
    from pathveil.words.automata import EditAutomaton as EditAutomaton
    from pathveil.words.base import ErrorLaw as ErrorLaw
    from pathveil.words.base import HammingUtility as HammingUtility
    from pathveil.words.base import InverseUtility as InverseUtility
    from pathveil.words.base import WordMechanism as WordMechanism
    from pathveil.words.bounds import permute_and_flip_bounds as permute_and_flip_bounds
    from pathveil.words.bounds import permute_and_flip_tail_bound as permute_and_flip_tail_bound
    from pathveil.words.certificate import Certificate as Certificate
    from pathveil.words.certified import CertifiedExponential as CertifiedExponential
    from pathveil.words.classes import ErrorClasses as ErrorClasses
    from pathveil.words.classes import error_classes as error_classes
    from pathveil.words.distances import DistanceLaw as DistanceLaw
    from pathveil.words.edit import EditCertificate as EditCertificate
    from pathveil.words.edit import EditClasses as EditClasses
    from pathveil.words.edit import EditLaw as EditLaw
    from pathveil.words.edit import edit_classes as edit_classes
    from pathveil.words.edit_certified import CertifiedEditExponential as CertifiedEditExponential
    from pathveil.words.edit_exponential import EditExponential as EditExponential
    from pathveil.words.edit_permute_and_flip import EditPermuteAndFlip as EditPermuteAndFlip
    from pathveil.words.exponential import Exponential as Exponential
    from pathveil.words.online import Online as Online
    from pathveil.words.online import OnlineStream as OnlineStream
    from pathveil.words.permute_and_flip import PermuteAndFlip as PermuteAndFlip
else:
    from functools import cache
    from importlib import import_module

    @cache
    def _homes():
        """{public name: the module that has it}, as written in the list above."""
        import ast

        statements = ast.parse(__spec__.loader.get_source(__name__)).body
        listed = next(statement for statement in statements if isinstance(statement, ast.If))
        return {alias.name: statement.module for statement in listed.body for alias in statement.names}

    def __getattr__(name):
        if name == "__all__":
            return sorted(_homes())
        if name not in _homes():
            raise AttributeError(f"module 'pathveil' has no attribute {name!r}")
        if _homes()[name] == __name__:  # a room as a whole
            return import_module(f"{__name__}.{name}")
        home = import_module(_homes()[name])
        value = getattr(home, name) if hasattr(home, name) else import_module(f"{home.__name__}.{name}")
        globals()[name] = value
        return value

    def __dir__():
        return [*sorted(_homes()), "__version__"]
