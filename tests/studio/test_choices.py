"""Choices: saved, opened again, and read back from whatever stands in the file."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil.studio.choices import COLUMNS, FIELDS, STEPS, Choices
from pathveil.studio.projects import Project, safe_name

NAMES = [name for fields in FIELDS.values() for name in fields]
FORMS = st.dictionaries(st.sampled_from([*NAMES, "unknown"]), st.text(max_size=20), max_size=6)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["values", "done", "epsilon"]), inner),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(STEPS), FORMS), max_size=8))
def test_a_step_is_done_only_if_nothing_before_it_has_changed_since(saved):
    choices = Choices()
    for step, form in saved:
        before = Choices(dict(choices.values), list(choices.done))
        choices.save(step, form)
        changed = choices.values != before.values and any(choices[name] != before[name] for name in FIELDS[step])
        later = STEPS[STEPS.index(step) + 1 :]
        assert step in choices.done
        assert [one for one in choices.done if one in later] == (
            [] if changed else [o for o in before.done if o in later]
        )
        assert choices.may_see(step) == before.may_see(step)
        again = Choices.from_dict(json.loads(json.dumps(choices.to_dict())))
        assert again == choices
        choices.save(step, form)
        assert choices == again  # the same form once more changes nothing
    for step in STEPS:
        choices.reopen(step)
        assert not set(choices.done) & set(STEPS[STEPS.index(step) :])


@settings(max_examples=40)
@given(st.sampled_from(STEPS), FORMS)
def test_no_kept_text_breaks_a_command_and_names_of_columns_are_kept_as_they_are(step, form):
    choices = Choices()
    choices.save(step, form)
    for name in FIELDS[step]:
        assert "\0" not in choices[name]
        if name in COLUMNS:
            assert choices[name] == form.get(name, "").replace("\r\n", "\n").replace("\0", "")
        elif name != "symbols":
            assert "\n" not in choices[name]


@settings(max_examples=40)
@given(ANY_JSON)
def test_a_file_of_choices_that_holds_something_else_is_read_as_far_as_it_can_be(content):
    choices = Choices.from_dict(content)
    assert all(isinstance(text, str) for text in choices.values.values())
    assert set(choices.done) <= set(STEPS)


def test_a_column_may_begin_with_a_blank_or_go_over_two_lines():
    choices = Choices()
    choices.save("file", {"column": " the\r\nroute ", "input": " x.csv "})
    assert (choices["column"], choices["input"]) == (" the\nroute ", "x.csv")


@settings(max_examples=40)
@given(st.text(max_size=300))
def test_a_safe_name_is_a_plain_name_of_bounded_length_with_the_same_ending(name):
    kept = safe_name(name)
    assert kept
    assert len(kept) <= 80
    assert kept[0] not in "-."
    assert set(kept) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
    assert safe_name(kept) == kept
    assert safe_name(f"{name}.csv").endswith("csv")


def test_choices_survive_the_disk_with_half_characters_and_all(tmp_path):
    project = Project(tmp_path)
    choices = Choices({"column": "\ud800 é\u2028", "symbols": "a\nb"}, ["file"])
    project.write(choices)
    assert project.choices == choices
    assert [path.name for path in tmp_path.iterdir()] == ["project.json"]
    assert (tmp_path / "project.json").stat().st_mode & 0o777 == 0o600
