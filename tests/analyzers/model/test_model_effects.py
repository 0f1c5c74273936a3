"""Effects of the model: all of them count unless one is left out by name."""

from dataclasses import fields

import pytest

from kprof_analyzers.model import Effects

NAMES = [field.name for field in fields(Effects)]


def test_every_effect_counts_by_default():
    """The prediction that users see leaves nothing out."""
    assert {name: getattr(Effects(), name) for name in NAMES} == dict.fromkeys(NAMES, True)


@pytest.mark.parametrize("name", NAMES)
def test_one_effect_is_left_out_alone(name):
    effects = Effects(**{name: False})
    assert [other for other in NAMES if not getattr(effects, other)] == [name]
