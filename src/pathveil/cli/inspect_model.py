"""`pathveil inspect`: what a saved private model says."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathveil.cli.options import Json, takes_bundles
from pathveil.cli.printing import inspected_sequences, print_sequences

if TYPE_CHECKING:
    from pathveil.models.chain import ErrorForecast, PrivateChain
    from pathveil.models.control import PrivateMDP
    from pathveil.models.sequences import PrivateSequences, PrivateSequencesByGroup
    from pathveil.systems.markov_chain import MarkovChain

_SHOWN = 20  # states in a table for people
_COUNTED = {"transitions": "of a pair of states", "first": "of a first symbol", "lengths": "of a length"}


@takes_bundles
def inspect(
    *,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="JSON that pathveil model wrote.")],
    as_json: Json = False,
) -> None:
    """What a private model says, how wrong it probably is, and what it promises.

    Of a chain you see where one is in the long run and the errors to expect of each way to make it; of a model of
    sequences its order, how many contexts stand on their own, and the frequent words. All of it follows from the
    released model: it may be shown to anybody.

    Example: [bold]pathveil inspect model.json[/bold]
    """
    from pathveil.data.public import read_mdp, read_model, read_sequences
    from pathveil.models.chain import chain_from_json

    process = read_mdp(model)
    if process is not None:
        _inspect_process(process, model, as_json)
        return
    sequences = read_sequences(model)
    if sequences is not None:
        _inspect_sequences(sequences, model, as_json)
        return
    chain, promise, forecasts = read_model(model)
    private = None if forecasts is None else chain_from_json(model.read_text(encoding="utf-8-sig"))
    stationary, why_not = _stationary(chain)
    rows = [] if forecasts is None else forecasts["rows"]
    if as_json:
        content = {
            "states": [str(state) for state in chain.symbols],
            "stationary_distribution": stationary,
            "why_no_stationary_distribution": why_not,
            "mechanism": None if forecasts is None else forecasts["mechanism"],
            "rows": rows,
            "words": None if private is None else private.words,
            "expected_errors": [] if private is None else [_as_json(one) for one in private.expected_errors],
            "guarantee": chain.guarantee,
        }
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
        return
    from rich.console import Console

    out = Console()
    out.print(f"{model}: {len(chain.symbols)} states, {chain.matrix.nnz} transitions", markup=False)
    _print_states(out, chain, stationary, rows)
    if why_not is not None:
        out.print(f"There is no single long run: {why_not}", markup=False)
    if private is not None:
        _print_mechanisms(out, private)
    out.print(
        "This chain carries no guarantee: it was not made by pathveil model."
        if promise is None
        else f"The promise: {promise}",
        markup=False,
    )


def _inspect_process(found: PrivateMDP, path: Path, as_json: bool) -> None:
    """Of a decision process: its size, what is known by a prior only, and the most likely outcome of each action."""
    from rich.console import Console
    from rich.table import Table

    unknown = [[str(state), str(action)] for state, action in found.prior_only]
    if as_json:
        content = {
            "states": [str(state) for state in found.states],
            "actions": [str(action) for action in found.actions],
            "transitions": found.transitions.tolist(),
            "rewards": found.rewards.tolist(),
            "prior_only": unknown,
            "mechanism": found.mechanism,
            "guarantee": found.guarantee.to_dict(),
        }
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
        return
    out = Console()
    out.print(
        f"{path}: a decision process of {len(found.states)} states and {len(found.actions)} actions; "
        f"{len(unknown)} pairs of them are known by a prior only",
        markup=False,
    )
    table = Table("state", "action", "reward", "most likely next", "probability")
    pairs = list(zip(*found.process.possible.nonzero(), strict=True))
    for s, a in pairs[:_SHOWN]:
        row = found.transitions[s, a]
        named = (str(name) for name in (found.states[s], found.actions[a]))
        table.add_row(*named, f"{found.rewards[s, a]:.3g}", str(found.states[row.argmax()]), f"{row.max():.3f}")
    out.print(table)
    if len(pairs) > _SHOWN:
        out.print(f"and {len(pairs) - _SHOWN} more rows (--json shows all)", markup=False)
    out.print(f"The promise: {found.guarantee}", markup=False)


def _inspect_sequences(found: PrivateSequences | PrivateSequencesByGroup, path: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(inspected_sequences(found), indent=2, ensure_ascii=False))
        return
    from rich.console import Console

    print_sequences(Console(), found, str(path))


def _stationary(chain: MarkovChain) -> tuple[list[float] | None, str | None]:
    from pathveil.errors import PathVeilError

    try:
        return [float(value) for value in chain.stationary_distribution], None
    except PathVeilError as problem:
        return None, str(problem)


def _print_states(out: Any, chain: MarkovChain, stationary: list[float] | None, rows: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    order = list(range(len(chain.symbols)))
    if stationary is not None:
        order.sort(key=lambda i: -stationary[i])
    shown = order[:_SHOWN]
    title = "the most frequent states" if len(shown) < len(order) else "the states"
    table = Table(title=f"{title} (error: root mean square over a row's entries, a bound)", title_justify="left")
    table.add_column("state")
    table.add_column("long run", justify="right")
    table.add_column("records", justify="right")
    table.add_column("error of an entry", justify="right")
    for i in shown:
        row = rows[i] if rows else {}
        table.add_row(
            escape(str(chain.symbols[i])),
            "" if stationary is None else f"{stationary[i]:.4f}",
            "protected" if row.get("records") is None else f"{row['records']:,}",
            "" if row.get("rmse") is None else f"{row['rmse']:.2g}",
        )
    out.print(table)


def _print_mechanisms(out: Any, model: PrivateChain) -> None:
    """By how much each mechanism makes counts wrong, or would have made them."""
    from rich.table import Table

    if not model.expected_errors:
        out.print(f"Mechanism: {model.mechanism}. (This older file does not say what the others would have done.)")
        return
    parts = list(model.expected_errors[0].errors)
    among = "" if model.words is None else f", among {model.words:,} words"
    table = Table(title=f"by how much a count is wrong on average{among}", title_justify="left")
    table.add_column("mechanism", no_wrap=True)
    table.add_column("δ", justify="right")
    for part in parts:
        table.add_column(_COUNTED[part], justify="right")
    for one in model.expected_errors:
        used = " (this model)" if one.mechanism == model.mechanism else ""
        cells = ["-" if math.isinf(error) else f"{error:.3g}" for error in one.errors.values()]
        table.add_row(one.mechanism + used, f"{one.delta:g}", *cells)
    out.print(table)
    for one in model.expected_errors:
        if one.why_not:
            out.print(f"{one.mechanism}: {one.why_not}", markup=False)
    if model.reason:
        out.print(f"Mechanism: {model.reason}.", markup=False)
    if model.asked is not None and model.asked.delta is None:
        out.print("No δ was offered, so only Laplace noise was possible.", markup=False)


def _as_json(one: ErrorForecast) -> dict[str, Any]:
    errors = {part: None if math.isinf(error) else error for part, error in one.errors.items()}
    return {"mechanism": one.mechanism, "delta": one.delta, "count_errors": errors, "why_not": one.why_not}
