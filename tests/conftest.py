"""Hypothesis draws the same few examples in every run, unless HYPOTHESIS_PROFILE asks for more.

With "many" they are the same in every run as well, and with "fresh" they are new ones.

Tests search for every calibration themselves: the cache of certificates is switched off.
"""

import os

import pytest
from hypothesis import settings
from tests.scheduling import group_of, place_of

os.environ["GGDP_CACHE"] = "off"
settings.register_profile("repeated", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("many", deadline=None, derandomize=True)
settings.register_profile("fresh", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeated"))

# Examples that run a large part of the paper for many seconds; reproduction/tests checks the same functions every time.
SLOW_EXAMPLES = {
    "ggdp_reproduction.reproduction.reproduce",
    "ggdp_reproduction.experiments.lower_bounds.lower_bounds",
}


# First: `-m` is applied to the marks that items have by then.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark slow examples, and let the groups that share much start first."""
    for item in items:
        if item.name in SLOW_EXAMPLES:
            item.add_marker(pytest.mark.exhaustive)
    items.sort(key=lambda item: place_of(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hand out whole groups, in the order in which their tests were collected."""
    from xdist.scheduler import LoadScopeScheduling

    class GroupScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    config.option.loadscopereorder = False
    return GroupScheduling(config, log)


def pytest_terminal_summary(terminalreporter):
    """Show what tests have counted, such as the writers that were killed and the edits that were found."""
    for report in terminalreporter.getreports("passed"):
        for name, counts in report.user_properties:
            if name == "counts":
                terminalreporter.write_line(f"{report.nodeid.rpartition('::')[2]}: {counts}")
