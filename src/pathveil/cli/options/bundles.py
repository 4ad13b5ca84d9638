"""Options that belong together, as one value.

A bundle is a frozen dataclass whose fields are declared as typer wants its parameters:

    @dataclass(frozen=True)
    class Printing:
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False
        as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, for machines.")] = False

    @app.command()
    @takes_bundles
    def compare(*, length: Length, printing: Printing) -> None: ...

typer knows only functions with one parameter for each option. `takes_bundles` makes such a function of a command: typer
sees --length, --quiet and --json, and the command gets a length and a `Printing`. A bundle may hold other bundles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def takes_bundles(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer can read it: with the fields of each bundle in the place of the bundle.

    What has to be given comes first, as in every signature; otherwise the order of the options is that in which they
    are declared.
    """

    @wraps(command)
    def run(**given: Any) -> None:
        _call(command, given)

    run.__doc__ = _flowing(command.__doc__ or "")
    options = sorted(_options(command), key=lambda option: option.default is not Parameter.empty)
    run.__signature__ = Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _flowing(text: str) -> str:
    """Each paragraph on one line. Typer would break the lines of all but the first where the source does."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


@cache
def _parameters(taker: Callable[..., Any]) -> list[tuple[Parameter, Any]]:
    """What a command or a bundle takes, each with its type. Reading a type takes longer than many a command."""
    types = get_type_hints(taker, include_extras=True)
    return [(parameter, types[parameter.name]) for parameter in signature(taker).parameters.values()]


def _options(taker: Callable[..., Any]) -> Iterator[Parameter]:
    """One parameter for each option that a command or a bundle takes, with its type."""
    for parameter, kind in _parameters(taker):
        if is_dataclass(kind):
            yield from _options(kind)  # type: ignore[arg-type]
        else:
            yield parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY)


def _call(taker: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Call a command, or make a bundle, with what it takes of the given options."""
    taken = {
        one.name: _call(kind, given) if is_dataclass(kind) else given[one.name]  # type: ignore[arg-type]
        for one, kind in _parameters(taker)
    }
    return taker(**taken)
