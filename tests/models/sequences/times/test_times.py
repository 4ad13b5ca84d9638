"""Times of words: read, counted, protected, learned and drawn.

Chi-square tests give a false alarm with a probability of 1e-6 (tests/statistics.py); sources are seeded.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import combinations_with_replacement, product
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.counting import States
from pathveil.models.laplace import exactly
from pathveil.models.people import WholeWords
from pathveil.models.sequences import CodedWords, frequent, measuring
from pathveil.models.sequences.times import LearnedTimes, WordTimes, checked_monday, learning
from pathveil.models.sequences.times.bins import DURATIONS, HOURS, duration_bin, duration_in
from tests.reference import word_times
from tests.statistics import FALSE_ALARM, chi_square_p_value

MONDAY = datetime(2023, 3, 6)
STATES = States("abc", None)


def random_data(seed: int, count: int, longest: int = 6) -> list[word_times.TimedWord]:
    """Words whose symbols are at any time of three years, at distances from nothing to half a year."""
    rng, data = random.Random(seed), []
    for _ in range(count):
        word = "".join(rng.choices("abc", k=rng.randint(1, longest)))
        times = [MONDAY + timedelta(seconds=rng.randint(-(10**8), 10**8))]
        times += [times[-1] + timedelta(seconds=rng.choice([0, rng.random(), 2 ** rng.uniform(0, 24)])) for _ in word]
        data.append((word, tuple(sorted(times)[: len(word)])))
    return data


def coded(data: list[word_times.TimedWord], max_length: int) -> tuple[CodedWords, WordTimes]:
    words = [word for word, _ in data]
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    times = WordTimes.read([list(times) for _, times in data], lengths).cut(lengths, max_length)
    return CodedWords.from_words(words, STATES, max_length), times


# Reading and counting.


@pytest.mark.parametrize(("max_length", "counted"), [(6, 5), (6, 2), (4, 3), (2, 1)])
def test_counts_are_those_of_the_calendar(max_length, counted):
    data = random_data(1, 400)
    words, times = coded(data, max_length)
    assert dict(enumerate(learning.count_starts(times))) == {
        hour: word_times.hours(data)[hour] for hour in range(HOURS)
    }
    expected = word_times.durations(data, max_length, counted)
    found = learning.count_durations(words, times, 3, counted)
    assert {("abc"[x], d): int(found[x, d]) for x in range(3) for d in range(DURATIONS)} == {
        (x, d): expected[x, d] for x in "abc" for d in range(DURATIONS)
    }


def test_bins_begin_exactly_at_powers_of_two_and_the_last_has_no_end():
    seconds = np.array([0, 0.999, 1, 1.999, 2, 3.999, 4, 2.0**22, 2.0**22 - 1e-6, 2.0**23, 1e12])
    assert duration_bin(seconds).tolist() == [word_times.duration_bin(one) for one in seconds]
    assert duration_bin(np.array([1e12])).tolist() == [DURATIONS - 1]


def test_drawn_durations_lie_in_their_bin():
    bins = np.repeat(np.arange(DURATIONS), 50)
    assert (duration_bin(duration_in(bins, np.tile(np.linspace(1e-9, 1 - 1e-9, 50), DURATIONS)) * 1.0) == bins).all()


def test_all_forms_of_times_mean_the_same():
    data = random_data(2, 50)
    data = [(word, tuple(time.replace(microsecond=0) for time in times)) for word, times in data]
    lengths = np.array([len(word) for word, _ in data], dtype=np.int64)
    plain = WordTimes.read([list(times) for _, times in data], lengths)
    moved = timedelta(hours=5, minutes=30)
    forms = {
        "numpy": [np.array(times, dtype="datetime64[s]") for _, times in data],
        "seconds": [[(time - datetime(1970, 1, 1)).total_seconds() for time in times] for _, times in data],
        "with a zone": [[time.replace(tzinfo=UTC) for time in times] for _, times in data],
        "zones that change": [
            [times[0].replace(tzinfo=UTC), *((t + moved).replace(tzinfo=ZoneInfo("Asia/Kolkata")) for t in times[1:])]
            for _, times in data
        ],
    }
    for name, form in forms.items():
        found = WordTimes.read(form, lengths)
        assert found.symbols == pytest.approx(plain.symbols, abs=1e-6), name
    starts = np.array([times[0] for _, times in data], dtype="datetime64[s]")
    for only in (starts, starts.tolist(), [float(s) for s in starts.astype(int)]):
        found = WordTimes.read(only, lengths)
        assert found.symbols is None
        assert found.starts == pytest.approx(plain.starts, abs=1e-6)


def test_a_clock_that_is_put_forwards_within_a_word_adds_no_hour():
    zone = ZoneInfo("Europe/Berlin")  # 2023-03-26, 2 o'clock becomes 3 o'clock
    before, after = datetime(2023, 3, 26, 1, 59, tzinfo=zone), datetime(2023, 3, 26, 3, 1, tzinfo=zone)
    found = WordTimes.read([[before, after]], np.array([2]))
    assert found.symbols is not None
    assert np.diff(found.symbols).tolist() == [120]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([[0, 1], [0]], "word number 2: it lists 1 times for 2 symbols"),
        ([[0, 1], [5, 4]], "word number 2: symbol 2 is earlier"),
        ([[0, 1], [0, None]], "word number 2: one of its times is missing"),
        ([[0, 1], 3], "word number 2: it is no list"),
        ([3, [0, 1]], "word number 2: it is a list"),
        ([3, float("nan")], "word number 2: it is missing"),
        ([MONDAY, None], "word number 2: it is missing"),
        ([3], "`times` has 1 entries, but there are 2 words"),
        (["2023-01-01", "2023-01-02"], "turn texts into times"),
        ([[MONDAY, MONDAY.replace(tzinfo=UTC)]] * 2, "all with a zone or all without"),
    ],
)
def test_wrong_times_are_named(times, message):
    with pytest.raises(pv.InvalidParameterError, match=message):
        pv.fit_private_sequences(["ab", "ba"], times=times, states="ab", epsilon=1.0, max_length=3)


def test_the_next_word_may_be_earlier():
    assert WordTimes.read([[5, 6], [0, 1]], np.array([2, 2])).starts.tolist() == [5, 0]


# What is promised.

WORDS = ["".join(word) for n in (1, 2, 3) for word in product("ab", repeat=n)]
GAPS = (0, 40)


def _timed() -> list[word_times.TimedWord]:
    """Words of up to three symbols that begin in one of two hours, with short and long durations."""
    found = []
    for word, hour in product(WORDS, (0, 30)):
        for gaps in product(GAPS, repeat=len(word) - 1):
            start = MONDAY + timedelta(hours=hour)
            found.append((word, tuple(start + timedelta(seconds=sum(gaps[:i])) for i in range(len(word)))))
    return found


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("most", [None, 2])
@pytest.mark.parametrize("counted", [1, 2])
def test_neighbours_change_the_tables_by_no_more_than_their_sensitivity_and_some_by_all_of_it(
    neighbours, most, counted
):
    """All pairs of persons with up to `most` words (or of single words), among words of others, by brute force."""
    whole, timed = WholeWords(neighbours, most), _timed()
    sizes = (1,) if most is None else range(most + 1)
    persons = [person for size in sizes for person in combinations_with_replacement(timed[:: most or 1], size)]
    persons = random.Random(3).sample(persons, 100) if len(persons) > 100 else persons
    # The worst: as many words as there may be, all in another hour and with other durations.
    worst = [
        timed[-1],
        next(one for one in timed if one[0] == "aaa" and one[1][0].hour == 0 and one[1][2] == one[1][0]),
    ]
    persons += [(one,) * (most or 1) for one in worst]
    others = [timed[3], timed[17]]

    def tables(person):
        data = [*others, *person]
        words, times = coded(data, 3)
        return learning.count_starts(times), learning.count_durations(words, times, 3, counted)

    counted_tables = [tables(person) for person in persons]
    if neighbours == "add-remove":
        pairs = [(tables(()), one) for one in counted_tables]
    else:
        pairs = [(one, other) for one in counted_tables for other in counted_tables]
    for part, number in ((0, 1), (1, counted)):
        largest = max(int(np.abs(one[part] - other[part]).sum()) for one, other in pairs)
        assert largest == whole.sensitivity(number)[0]


@pytest.mark.parametrize("delta", [None, 1e-6])
@pytest.mark.parametrize("kind", [None, "starts", "symbols"])
def test_all_shares_sum_to_the_promise(monkeypatch, delta, kind):
    """Every noise that is drawn, by the ε that it was made for; for times also by what one word can change."""
    spent: list[tuple[str, Fraction, int]] = []
    real = learning.laplace_noise

    def noting(where):
        def note(epsilon, l1):
            made = real(epsilon, l1)
            draw = type(made).draw

            class Noted(type(made)):
                def draw(self, source, count):
                    spent.append((where, Fraction(epsilon), l1))
                    return draw(self, source, count)

            return Noted(made.kind, made.scale)

        return note

    for module in (measuring, frequent, learning):
        monkeypatch.setattr(module, "laplace_noise", noting(module.__name__))
    data = random_data(4, 300, longest=5)
    times = {None: None, "starts": [one[0] for _, one in data], "symbols": [list(one) for _, one in data]}[kind]
    model = pv.fit_private_sequences(
        [word for word, _ in data], times=times, states="abc", epsilon=0.7, delta=delta, max_length=5, order=3,
        rng=pv.insecure_seed(1),
    )  # fmt: skip
    assert sum(epsilon for _, epsilon, _ in spent) <= exactly(0.7)
    assert sum(epsilon for _, epsilon, _ in spent) > exactly(0.7) * Fraction(7, 10)  # contexts that are not opened
    of_times = [(epsilon, l1) for where, epsilon, l1 in spent if where == learning.__name__]
    durations = 2 * (model.times.counted if model.times else 0)
    expected = {
        None: [],
        "starts": [(exactly(0.7) / 25, 2)],
        "symbols": [(exactly(0.7) / 25, 2), (exactly(0.7) / 50, durations), (exactly(0.7) / 25, durations)],
    }[kind]
    assert of_times == expected


def test_the_guarantee_names_the_times():
    data = random_data(5, 50, longest=3)
    words = [word for word, _ in data]

    def promise(times):
        return pv.fit_private_sequences(
            words, times=times, states="abc", epsilon=1.0, max_length=3, rng=pv.insecure_seed(1)
        ).guarantee

    without, starts, both = promise(None), promise([t[0] for _, t in data]), promise([list(t) for _, t in data])
    assert "time" not in str(without)
    assert "with any times, in which one is replaced" in starts.unit
    assert "the bins of times" in starts.public
    assert "hours of the week" in starts.mechanism
    assert "durations" not in starts.mechanism
    assert "hours of the week" in both.mechanism
    assert "durations between symbols" in both.mechanism


# What is learned.


def _visits(count: int) -> tuple[list[str], list[list[datetime]]]:
    """Words begin on Tuesday at 9 or on Saturday at 20; it takes a minute after an a, an hour after a b."""
    rng, words, times = random.Random(9), [], []
    for _ in range(count):
        word = rng.choice(["ab", "aab", "bab", "abb"])
        start = MONDAY + timedelta(days=rng.choice([1, 5]), seconds=rng.randrange(3600))
        start += timedelta(hours=9 if start.weekday() == 1 else 20, weeks=rng.randrange(50))
        times.append([start])
        for symbol in word[:-1]:
            times[-1].append(times[-1][-1] + timedelta(seconds={"a": 60, "b": 3600}[symbol]))
        words.append(word)
    return words, times


def _learned(count=4000, epsilon=20.0, **more) -> pv.PrivateSequences:
    words, times = _visits(count)
    return pv.fit_private_sequences(
        words, times=times, states="ab", epsilon=epsilon, max_length=3, rng=pv.insecure_seed(2), **more
    )


def test_what_the_data_say_of_times_comes_back_in_synthetic_words():
    found = _learned().synthesize_events(4000, pv.insecure_seed(3))
    assert found.times is not None
    hour = Counter((time.weekday(), time.hour) for time in found.starts.tolist())
    assert hour[1, 9] / 4000 == pytest.approx(0.5, abs=0.06)
    assert hour[5, 20] / 4000 == pytest.approx(0.5, abs=0.06)
    gaps: dict[str, list[int]] = {"a": [], "b": []}
    for word, times in zip(found.words, found.times, strict=True):
        for symbol, gap in zip(word, np.diff(times).astype(int).tolist(), strict=False):
            gaps[symbol].append(gap)
    assert np.mean([32 <= gap < 64 for gap in gaps["a"]]) > 0.9
    assert np.mean([2048 <= gap < 4096 for gap in gaps["b"]]) > 0.9


@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_times_never_decrease_and_begin_in_the_declared_week(epsilon):
    model = _learned(count=200, epsilon=epsilon)
    for week in ("2024-07-01", date(2024, 7, 1), np.datetime64("2024-07-01")):
        found = model.synthesize_events(300, pv.insecure_seed(3), week=week)
        assert found.times is not None
        assert ((found.starts >= np.datetime64("2024-07-01")) & (found.starts < np.datetime64("2024-07-08"))).all()
        assert all((np.diff(times).astype(int) >= 0).all() for times in found.times)
        assert [len(times) for times in found.times] == [len(word) for word in found.words]
        assert [times[0] for times in found.times] == found.starts.tolist()


def test_symbols_that_noise_hides_have_the_durations_of_all():
    """Ten thousand durations after a, none after b: what is learned of b is what is known of all."""
    noisy, of_all = np.zeros((2, DURATIONS)), np.zeros(DURATIONS)
    noisy[0, 5], noisy[1], of_all[5] = 10_000, np.resize([3.0, -3.0], DURATIONS), 1.0
    learned = learning.smooth_by_symbol(noisy, 200.0, of_all)
    assert learned.sum(axis=1) == pytest.approx([1, 1])
    assert learned[1, 5] > 0.9
    noisy[1, 9] = 5_000
    assert learning.smooth_by_symbol(noisy, 200.0, np.full(DURATIONS, 1 / DURATIONS))[1, 9] > 0.9  # not hidden


def test_what_noise_hides_is_even_and_never_wilder():
    """Nothing but noise: no hour and no duration becomes several times as likely as another."""
    rng = np.random.default_rng(1)
    hours = learning.smooth_hours(rng.laplace(0, 100, HOURS), 20_000.0, number=100.0)
    assert hours.sum() == pytest.approx(1)
    assert hours.max() < 3 / HOURS
    table = rng.laplace(0, 100, (5, DURATIONS))
    durations = learning.smooth_all(rng.laplace(0, 100, DURATIONS), 20_000.0, table, 20_000.0, number=100.0)
    assert durations.max() < 3 / DURATIONS
    clear = np.where(np.arange(HOURS) == 33, 5000.0, 0.0)
    assert learning.smooth_hours(clear, 200.0, number=5000.0)[33] > 0.9


def test_of_two_tables_of_durations_the_one_with_less_noise_is_believed():
    """A hundred thousand durations of bin 3, which one table says and the other, being noise, does not."""
    said, other = np.zeros(DURATIONS), np.zeros(DURATIONS)
    said[3], other[7] = 1e5, 1e5
    apart = np.tile(other / 5, (5, 1))
    assert learning.smooth_all(said, 1.0, apart, 1e9, number=1e5)[3] > 0.9
    assert learning.smooth_all(said, 1e9, apart, 1.0, number=1e5)[7] > 0.9
    # Five tables, each with a fifth of the noise of the other one, say together as much as that one.
    half = learning.smooth_all(said, 500.0, apart, 100.0, number=1e5)
    assert half[3] == pytest.approx(half[7])
    # And with four times the noise a quarter as much.
    noisier = learning.smooth_all(said, 500.0, apart, 400.0, number=1e5)
    assert noisier[3] == pytest.approx(4 * noisier[7], rel=0.05)


def test_words_may_begin_as_asked_for_and_have_times():
    found = _learned().synthesize_events(50, pv.insecure_seed(3), prefix="ab", last="b")
    assert all(word.startswith("ab") and word.endswith("b") for word in found.words)


def test_drawn_times_follow_what_was_learned_and_other_laws_would_be_noticed():
    rng = np.random.default_rng(1)
    starts, durations = rng.dirichlet(np.ones(HOURS)), rng.dirichlet(np.ones(DURATIONS), size=3)
    words, lengths = rng.integers(0, 3, size=(30_000, 2)), np.full(30_000, 2)
    begun, at = LearnedTimes(starts, durations, 1).draw(
        words, lengths, checked_monday("2024-01-01"), pv.insecure_seed(4)
    )
    assert at is not None
    hour = ((begun - np.datetime64("2024-01-01")).astype(int) // 3600).tolist()
    assert chi_square_p_value(hour, dict(enumerate(starts))) > FALSE_ALARM
    assert chi_square_p_value(hour, dict(enumerate(np.roll(starts, 1)))) < FALSE_ALARM
    gaps = np.diff(at.reshape(-1, 2), axis=1)[:, 0].astype(float)
    for symbol in range(3):
        bins = duration_bin(gaps[words[:, 0] == symbol]).tolist()
        assert chi_square_p_value(bins, dict(enumerate(durations[symbol]))) > FALSE_ALARM
        assert chi_square_p_value(bins, dict(enumerate(durations[symbol - 1]))) < FALSE_ALARM


def test_only_starts_give_no_times_of_symbols():
    words, times = _visits(300)
    model = pv.fit_private_sequences(
        words, times=[one[0] for one in times], states="ab", epsilon=5.0, max_length=3, rng=pv.insecure_seed(2)
    )
    found = model.synthesize_events(10, pv.insecure_seed(3))
    assert found.times is None
    assert len(found.starts) == 10


def test_of_persons_the_chosen_words_keep_their_own_times():
    """A person's words lie in one hour each; whichever are chosen, all hours are those of the data."""
    words, users = ["ab"] * 400, [i % 100 for i in range(400)]
    times = [
        [MONDAY + timedelta(hours=7 * (i % 4)), MONDAY + timedelta(hours=7 * (i % 4), seconds=60)] for i in range(400)
    ]
    model = pv.fit_private_sequences(
        words, times=times, states="ab", epsilon=500.0, max_length=2, unit="user", users=users, max_words_per_user=2,
        rng=pv.insecure_seed(5),
    )  # fmt: skip
    assert model.times is not None
    assert sum(model.times.starts[[0, 7, 14, 21]]) > 0.9
    assert "all words of one person" in model.guarantee.unit
    assert "with any times" in model.guarantee.unit


def test_a_saved_model_gives_the_same_times():
    model = _learned(count=200)
    again = pv.PrivateSequences.from_json(model.to_json())
    first, second = (one.synthesize_events(50, pv.insecure_seed(3)) for one in (model, again))
    assert first.words == second.words
    assert (first.starts == second.starts).all()
    assert again.asked == model.asked


def test_misuse_is_named():
    without = pv.fit_private_sequences(["ab"] * 9, states="ab", epsilon=1.0, max_length=3)
    with pytest.raises(pv.InvalidParameterError, match="fit it with `times`"):
        without.synthesize_events(3)
    with pytest.raises(pv.InvalidParameterError, match="the date of a Monday"):
        _learned(count=20).synthesize_events(3, week="2024-01-02")
    counted = CodedWords.from_codes([[0, 1]], np.array([3]))
    with pytest.raises(pv.InvalidParameterError, match="each word by itself"):
        pv.fit_private_sequences(counted, times=[0], states="ab", epsilon=1.0, max_length=3)
