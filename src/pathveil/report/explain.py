"""What numbers about privacy mean, in sentences. Shared by the reports, so that all of them say the same."""

from __future__ import annotations

from math import exp

from pathveil.markup import short
from pathveil.words.certificate import Certificate, published_theta
from pathveil.words.edit import EditCertificate


def greatest_belief(epsilon: float, prior: float = 0.5) -> float:
    """How sure somebody can become of one of two inputs after a release with δ = 0, having been sure with `prior`.

    Bayes' rule with a likelihood ratio of e^ε, the largest that the promise allows.
    """
    against = (1 - prior) / prior * exp(-epsilon)
    return 1 / (1 + against)


def best_guess(epsilon: float, delta: float = 0.0) -> float:
    """How often at most a guess between two equally likely inputs is right: (e^ε + δ)/(e^ε + 1).

    That is (1 + TV)/2 for the largest total variation distance TV that (ε, δ) allows.
    """
    return (1 + delta * exp(-epsilon)) / (1 + exp(-epsilon))


def epsilon_in_words(epsilon: float, delta: float = 0.0) -> list[str]:
    """Two or three sentences about ε for people who have never met it."""
    factor = short(exp(epsilon)) if epsilon < 700 else "more than 10³⁰⁰"
    said = [
        f"ε = {epsilon:g} bounds a ratio: whatever is seen in the release, it is at most e^{epsilon:g} ≈ {factor} "
        "times as likely under the true input as under any alternative that the promise covers.",
        "Put as a bet: somebody who has to tell two such inputs apart, both equally likely before the release, is "
        f"right at most {percent(best_guess(epsilon, delta))} of the time, whatever else they know or compute. A coin "
        "toss is right 50% of the time.",
    ]
    if delta:
        said.append(
            f"δ = {delta:g} is an allowance on top: the probability of any set of outputs may exceed that bound by at "
            f"most {delta:g}."
        )
    return said


def certificate_in_words(certificate: Certificate, epsilon: float) -> list[str]:
    """What is proved about the certified mechanism at this ε and b, and how."""
    b, theta, n = certificate.adjacency, certificate.theta, certificate.length
    symbols = f"{b} symbol{'s' * (b > 1)}"
    said = [
        f"The tilt is θ = {theta:.4g}: with every further error, a private word becomes e^θ ≈ {short(exp(theta))} "
        "times less likely. The larger θ, the fewer errors.",
        f"Proved: between two feasible words of {n} symbols that differ in at most {symbols}, the loss is at most "
        f"{certificate.loss:.6g}, which is within ε = {epsilon:g}.",
    ]
    change = max(certificate.loss - b * theta, 0.0)
    if certificate.method.startswith("published"):
        said.append(
            f"Here no more is proved than what the papers prove for every system ({certificate.method}): θ = ε/(2b), "
            "half of the loss for the distance to the output and half in case the normalising constant changes as "
            "much."
        )
    elif certificate.method.startswith("free"):
        said.append(
            f"How: the loss has two parts. The distance to any output changes by at most {b}, which costs bθ = "
            f"{b * theta:.4g}. The normalising constant is the same for every word, because every word is possible; "
            "that costs nothing. The papers allow for the worst there and so halve θ to "
            f"{published_theta(epsilon, b):.4g}."
        )
    else:
        said.append(
            f"How: the loss has two parts. The distance to any output changes by at most {b}, which costs bθ = "
            f"{b * theta:.4g}. The normalising constant changes, too: its logarithm by at most {change:.4g}, found by "
            "bounding every place where two feasible words can differ. The papers allow for a change as large as the "
            f"first part, and so have to take θ = {published_theta(epsilon, b):.4g}."
        )
    if certificate.protected_positions is not None and certificate.protected_positions < n:
        said.append(
            f"Who is compared: on average {certificate.protected_positions:.1f} of {n} positions of a feasible word "
            "could hold another symbol with all others as they are. Elsewhere the public system itself gives the "
            "symbol away to somebody who knows all the rest, and no mechanism can change that; a larger b covers "
            "such symbols together with their neighbours."
        )
    farther = [distance for distance in (b + 1, 2 * b, 4 * b) if b < distance <= n]
    if farther:
        losses = ", ".join(f"{d} symbols: {certificate.loss_at(d):.3g}" for d in dict.fromkeys(farther))
        said.append(f"Words that differ in more than {symbols} are covered at a larger loss ({losses}).")
    return said


def edit_certificate_in_words(
    certificate: EditCertificate, epsilon: float, adjacency: int, lengths: tuple[int, int], cap: int
) -> list[str]:
    """What is proved about the certified mechanism for edit distance, and how."""
    b, (lo, hi) = adjacency, lengths
    theta, published = certificate.theta, published_theta(epsilon, min(b, cap))
    said = [
        f"The tilt is θ = {theta:.4g}: with every further edit, a private word becomes e^θ ≈ {short(exp(theta))} times "
        "less likely. The larger θ, the fewer edits.",
        f"Proved: between two feasible words of {lo} to {hi} symbols that are at most {b} insertion{'s' * (b > 1)}, "
        f"deletion{'s' * (b > 1)} or substitution{'s' * (b > 1)} apart, the loss is at most {certificate.loss:.6g}, "
        f"which is within ε = {epsilon:g}.",
    ]
    if theta <= published * (1 + 1e-9):
        said.append(
            f"Here no larger tilt than the published one, θ = ε/(2b), can be certified ({certificate.how}): half of "
            "the loss is for the distance to the output, half in case the normalising constant changes as much."
        )
    else:
        said.append(
            f"How: the distance to any output changes by at most {b}, which costs {certificate.distance_loss:.4g}. The "
            f"logarithm of the normalising constant changes by at most {certificate.normaliser_loss:.4g}, found by "
            "bounding how many words can be at each distance from any feasible word. The published calibration allows "
            f"for a change as large as the first part, and so has to take θ = {published:.4g}."
        )
    return said


def percent(share: float) -> str:
    """A share with three digits, if it is not tiny; close to 1 with as many as it takes not to say 100%."""
    if 0 < share < 1e-4:
        return "below 0.01%"
    if share > 1 - 1e-7:
        return "100%" if share == 1 else "practically 100%"
    digits = 3
    while 100 * share < 100 and f"{100 * share:.{digits}g}" == "100":
        digits += 1
    return f"{100 * share:.{digits}g}%"


def beliefs(epsilon: float) -> list[tuple[str, str]]:
    """From how sure to how sure at most, for a few priors; for δ = 0."""
    return [(percent(prior), percent(greatest_belief(epsilon, prior))) for prior in (0.001, 0.01, 0.1, 0.5)]
