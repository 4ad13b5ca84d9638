"""What a private model of sequences says of itself. All of it follows from the released model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pathveil.models.sequences import PrivateSequences, PrivateSequencesByGroup

_SHOWN = 20  # frequent words in a table for people
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _of_groups(model: PrivateSequences | PrivateSequencesByGroup) -> dict[Any, PrivateSequences] | None:
    """The models of the groups; None where there is one model of all words."""
    from pathveil.models.sequences import PrivateSequencesByGroup

    return model.models if isinstance(model, PrivateSequencesByGroup) else None


def sequences_in_a_line(model: PrivateSequences | PrivateSequencesByGroup) -> str:
    """What was learned, in one line."""
    groups = _of_groups(model)
    if groups is not None:
        return f"private models of sequences over {len(model.states):,} states, one for each of {len(groups):,} groups"
    return _one_in_a_line(cast("PrivateSequences", model))


def _one_in_a_line(model: PrivateSequences) -> str:
    own, contexts = model.own_contexts
    asked = model.asked.order
    less = "" if asked in ("auto", model.order) else f" (not {asked}: longer contexts cannot be told from noise)"
    kept = "" if model.asked.delta is None else f", and {len(model.frequent):,} frequent words are kept whole"
    times = (
        "" if model.times is None else {"starts": ", with times of starts", "symbols": ", with times"}[model.times.kind]
    )
    return (
        f"a private model of sequences over {len(model.states):,} states, order {model.order}{less}{times}; {own:,} of "
        f"{contexts:,} contexts stand on their own{kept}"
    )


def sequences_as_json(model: PrivateSequences | PrivateSequencesByGroup) -> dict[str, Any]:
    """The same for machines."""
    groups = _of_groups(model)
    if groups is not None:
        return {"groups": [{"group": str(group), **_one_as_json(one)} for group, one in groups.items()]}
    return _one_as_json(cast("PrivateSequences", model))


def _one_as_json(model: PrivateSequences) -> dict[str, Any]:
    own, contexts = model.own_contexts
    return {
        "states": len(model.states),
        "order": model.order,
        "order_asked": model.asked.order,
        "max_length": model.asked.max_length,
        "contexts": contexts,
        "own_contexts": own,
        "contexts_by_symbols": [{"own": own, "contexts": rows} for own, rows in model.contexts],
        "spent": [{"on": one.what, "epsilon": one.epsilon, "noise_scale": one.scale} for one in model.spent],
        "frequent_words": len(model.frequent),
        "frequent_share": model.frequent_share,
        "times": None if model.times is None else model.times.kind,
        "words": model.word_count,
    }


def inspected_sequences(model: PrivateSequences | PrivateSequencesByGroup) -> dict[str, Any]:
    """All that `pathveil inspect --json` says."""
    groups = _of_groups(model)
    if groups is None:
        return _one_inspected(cast("PrivateSequences", model)) | {"guarantee": model.guarantee.to_dict()}
    listed = [{"group": str(group), **_one_inspected(one)} for group, one in groups.items()]
    return {"groups": listed, "guarantee": model.guarantee.to_dict()}


def _one_inspected(model: PrivateSequences) -> dict[str, Any]:
    frequent = [{"word": [str(symbol) for symbol in word], "count": count} for word, count in model.frequent]
    learned = model.times
    hours = None if learned is None else learned.starts.tolist()
    durations = None
    if learned is not None and learned.durations is not None:
        durations = {str(state): row for state, row in zip(model.states, learned.durations.tolist(), strict=True)}
    return _one_as_json(model) | {"frequent": frequent, "hours_of_the_week": hours, "durations": durations}


def print_sequences(out: Any, model: PrivateSequences | PrivateSequencesByGroup, name: str) -> None:
    """What `pathveil inspect` prints."""
    groups = _of_groups(model)
    if groups is None:
        _print_one(out, cast("PrivateSequences", model), name)
    else:
        out.print(f"{name}: {sequences_in_a_line(model)}", markup=False)
        for group, one in groups.items():
            _print_one(out, one, f"{group} (about {one.word_count:,.0f} words)")
    out.print(f"The promise: {model.guarantee}", markup=False)


def _print_one(out: Any, model: PrivateSequences, name: str) -> None:
    from rich.markup import escape
    from rich.table import Table

    out.print(f"{name}: {_one_in_a_line(model)}", markup=False)
    _print_spent(out, model)
    if model.frequent:
        shown = model.frequent[:_SHOWN]
        title = "the most frequent words" if len(shown) < len(model.frequent) else "the frequent words"
        table = Table(title=f"{title} ({model.frequent_share:.1%} of all)", title_justify="left")
        table.add_column("word")
        table.add_column("count, with noise", justify="right")
        for word, count in shown:
            table.add_row(escape(" ".join(map(str, word))), f"{count:,.0f}")
        out.print(table)
    elif model.asked.delta is None:
        out.print("No δ was offered, so no word could be kept whole.", markup=False)
    if model.times is not None:
        out.print(f"Words begin most often {_busiest(model.times.starts)}.", markup=False)


def _busiest(starts: Any) -> str:
    """The likeliest hours of the week, in words."""
    best = sorted(range(len(starts)), key=lambda hour: -starts[hour])[:3]
    return ", ".join(f"{_DAYS[hour // 24]} at {hour % 24} ({starts[hour]:.1%})" for hour in best)


def _print_spent(out: Any, model: PrivateSequences) -> None:
    """What each part of the budget has bought."""
    from rich.table import Table

    table = Table(title="what the budget was spent on", title_justify="left")
    table.add_column("part")
    table.add_column("share of ε", justify="right")
    table.add_column("noise of a count", justify="right")
    table.add_column("bought")
    for one in model.spent:
        share = f"{one.epsilon / model.asked.epsilon:.1%}"
        table.add_row(one.what, share, f"{one.scale:,.3g}", _bought(model, one.what))
    out.print(table)


def _bought(model: PrivateSequences, what: str) -> str:
    """What came out of a part, in a few words."""
    if what == "lengths":
        return f"how likely 1 to {model.asked.max_length} symbols are"
    if what.startswith("frequent words"):
        return f"{len(model.frequent):,} words, {model.frequent_share:.1%} of all"
    if what.startswith("contexts of "):
        own, rows = model.contexts[int(what.split()[2]) - 1]
        return f"{own:,} of {rows:,} contexts stand on their own"
    return "times of synthetic words"
