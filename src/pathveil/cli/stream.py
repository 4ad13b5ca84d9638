"""`pathveil stream`: a private symbol out for each symbol in, at once."""

from __future__ import annotations

import sys
from dataclasses import replace

from pathveil.cli import options
from pathveil.cli.charging import open_ledger
from pathveil.cli.system_choice import public_system


def stream(
    epsilon: options.Epsilon,
    edges: options.Edges = None,
    alphabet: options.AlphabetFile = None,
    chain: options.ChainFile = None,
    automaton: options.AutomatonFile = None,
    adjacency: options.Adjacency = 1,
    ledger: options.LedgerFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Symbols in on standard input, private symbols out at once: one a line; an empty line ends a word.

    Each word is protected by itself. When a symbol is written tells when one was read.

    Example: [bold]printf 'home\\ncart\\n' | pathveil stream --alphabet pages.txt --epsilon 2[/bold]
    """
    world = public_system(edges=edges, alphabet=alphabet, chain=chain, automaton=automaton)
    from pathveil.errors import UnknownSymbolError
    from pathveil.words.online import Online

    mechanism = Online(world, epsilon, adjacency)
    promise = mechanism.guarantee
    promise = replace(promise, public=(*promise.public, "how many words there are", "when each symbol was read"))
    budget = open_ledger(ledger)
    charge = None
    if budget is not None:
        charge = budget.charge(promise, command="stream of standard input", request="stream")
        budget.seal(charge, output="standard output")  # symbols appear one by one: nothing of it can be taken back
    if not quiet:
        print(f"The promise, for each word: {promise}", file=sys.stderr)
    names = {str(symbol): symbol for symbol in world.symbols}
    word = mechanism.stream()
    for number, line in enumerate(sys.stdin, start=1):
        name = line.rstrip("\r\n")
        if not name:
            word = mechanism.stream()
            print(flush=True)
            continue
        if name not in names:
            raise UnknownSymbolError(
                f"standard input, line {number}: unknown symbol {name!r}. Correct the input, or give a public system "
                f"that has this symbol (this one has {len(names)})."
            )
        print(word.push(names[name]), flush=True)
    if budget is not None and charge is not None:
        budget.complete(charge)
