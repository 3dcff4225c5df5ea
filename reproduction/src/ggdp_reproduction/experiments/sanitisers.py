"""What the experiments run: the ways to sanitise, the privacy parameters, and the noise that each of them needs.

=========  ==============================================================================================
paper      the paper's own: D = 1 under add/remove, its formulas (corrected), noise on the reals
ours       the same goals by the least scales; integer noise; the planner's order; replace-one neighbours
=========  ==============================================================================================

The classic Gaussian scale is proved for epsilon below 1 only. The paper uses it at 1 and 2 too, and so does the
reproduction, with a note on those rows.

References
----------
Liu, arXiv 1602.06028 v5, Section 4: epsilon in {0.5, 1, 2}, delta in {0.01, 0.05, 0.1, 0.25}, 500 repeats; its text on
the Czech data also mentions epsilon = 0.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import ggdp
from ggdp.calibration import classic_gaussian
from ggdp.errors import ArgumentError
from ggdp_reproduction import checks
from ggdp_reproduction.experiments.tasks import run_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

EPSILONS = (0.5, 1.0, 2.0)
EPSILONS_TEXT = (0.1,)
DELTAS = (0.01, 0.05, 0.1, 0.25)
# Those of a small run.
QUICK_DELTAS = (0.05, 0.25)
# The paper's; and for tables of 64 cells enough to decide what is close.
REPEATS, TABLE_REPEATS, QUICK_REPEATS = 500, 20_000, 20


@dataclass(frozen=True, slots=True)
class Sanitiser:
    """A way to sanitise the counts of a histogram."""

    group: Literal["paper", "ours"]  # whether the paper ran it
    # Its name in files and in figures.
    key: str
    label: str
    order: float | None  # order of the noise; None where the planner chooses it for each goal
    notion: Literal["pure", "probabilistic", "approximate"]  # what it promises
    method: Literal["paper", "classic", "tight", "planned"]  # where its scale comes from
    support: Literal["real", "integer"] = "real"  # where its noise lives
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"  # the relation of neighbours

    @property
    def uses_delta(self) -> bool:
        """Whether its noise depends on delta."""
        return self.notion != "pure"

    def calibrate(self, epsilon: float, delta: float | None = None) -> ggdp.Calibration:
        """Return the noise for an epsilon and, if it uses one, a delta; a planned order is among its notes."""
        query = ggdp.Sensitivity.histogram(neighbours=self.neighbours)
        goal: ggdp.PureDP | ggdp.ProbabilisticDP | ggdp.ApproxDP
        if not self.uses_delta:
            goal = ggdp.PureDP(epsilon)
        elif delta is None:
            raise ArgumentError("delta", delta, f"{self.key} needs one")
        else:
            goal = (ggdp.ProbabilisticDP if self.notion == "probabilistic" else ggdp.ApproxDP)(epsilon, delta)
        if self.order is None:
            calibration = ggdp.plan(goal, query, measure="mean-abs", support=self.support).calibration
            note = f"order {calibration.order:.6g} by the planner, for the least mean absolute error"
            return replace(calibration, notes=(note, *calibration.notes))
        if self.method == "classic":
            assert isinstance(goal, ggdp.ApproxDP)
            return classic_gaussian(goal, query, outside_domain=True)
        method: Literal["paper", "tight"] = "paper" if self.method == "paper" else "tight"
        return ggdp.calibrate(goal, query, order=self.order, support=self.support, method=method)


class Setting(NamedTuple):
    """A sanitiser with its privacy parameters; delta is None where it has none."""

    sanitiser: Sanitiser
    epsilon: float
    delta: float | None

    @property
    def key(self) -> tuple[str, float, float | None]:
        """The names of the setting."""
        return self.sanitiser.key, self.epsilon, self.delta

    def row(self, noise: ggdp.Calibration) -> dict[str, Any]:
        """Return how a row of a run begins: the names of the setting, and its noise."""
        one = self.sanitiser
        return {
            "sanitiser": one.key,
            "group": one.group,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "order": noise.order,
            "scale": noise.scale,
            "support": one.support,
            "neighbours": one.neighbours,
        }


PAPER = (
    Sanitiser("paper", "laplace", "Laplace", 1.0, "pure", "paper"),
    Sanitiser("paper", "gaussian-pdp", "Gaussian pDP", 2.0, "probabilistic", "paper"),
    Sanitiser("paper", "gaussian-adp-classic", "Gaussian aDP (classic)", 2.0, "approximate", "classic"),
    Sanitiser("paper", "ggm3-pdp", "GGM-3 pDP", 3.0, "probabilistic", "paper"),
)
_FOR_ADD_REMOVE = (
    Sanitiser("ours", "tight-gaussian-pdp", "Gaussian pDP, tight", 2.0, "probabilistic", "tight"),
    Sanitiser("ours", "analytic-gaussian", "Gaussian aDP, tight", 2.0, "approximate", "tight"),
    Sanitiser("ours", "tight-gg3-adp", "GG-3 aDP, tight", 3.0, "approximate", "tight"),
    Sanitiser("ours", "integer-laplace", "Laplace on integers", 1.0, "pure", "tight", "integer"),
    Sanitiser("ours", "integer-best", "planner's order on integers, aDP", None, "approximate", "planned", "integer"),
)
OURS = (
    *_FOR_ADD_REMOVE,
    replace(
        _FOR_ADD_REMOVE[3],
        key="replace-one-laplace",
        label="Laplace on integers, replace-one",
        neighbours="replace-one",
    ),
    replace(
        _FOR_ADD_REMOVE[1],
        key="replace-one-gaussian",
        label="Gaussian aDP, tight, replace-one",
        neighbours="replace-one",
    ),
)
ALL = PAPER + OURS

_KNOWN: dict[Setting, ggdp.Calibration] = {}


def sanitiser_of(key: str) -> Sanitiser:
    """Return the sanitiser of a key."""
    checks.choice(among=[one.key for one in ALL], sanitiser=key)
    return next(one for one in ALL if one.key == key)


def sanitisers_for(dataset: str) -> tuple[Sanitiser, ...]:
    """Return what is run on a data set: all but GGM-3, which the paper has on mildew only."""
    return tuple(one for one in ALL if dataset == "mildew" or one.key != "ggm3-pdp")


def settings_of(
    sanitisers: Iterable[Sanitiser], epsilons: Iterable[float], deltas: Iterable[float]
) -> tuple[Setting, ...]:
    """Return every sanitiser at every epsilon, and at every delta if it uses one."""
    # Asked for as 1 or as 1.0, a setting is the same one.
    sizes: list[float] = checks.positives(epsilon=[*epsilons]).tolist()
    chances: list[float | None] = checks.deltas(delta=[*deltas]).tolist()
    pairs = [
        Setting(one, epsilon, delta)
        for one in sanitisers
        for epsilon in sizes
        for delta in (chances if one.uses_delta else [None])
    ]
    return tuple(dict.fromkeys(pairs))


def known(
    settings: Sequence[Setting], *, workers: int = 1, progress: Callable[[int, int], None] | None = None
) -> tuple[ggdp.Calibration, ...]:
    """Return the noise of every setting, searched for once in a process: the planner takes a second or two for each."""
    missing = [setting for setting in settings if setting not in _KNOWN]
    slow = [setting for setting in missing if setting.sanitiser.method == "planned"]
    _KNOWN.update({setting: _calibrated(None, setting) for setting in missing if setting not in slow})

    def report(done: int, total: int) -> None:
        if progress is not None:
            progress(len(settings) - total + done, len(settings))

    found = run_tasks(_calibrated, slow, shared=None, workers=workers, progress=report)
    _KNOWN.update(zip(slow, found, strict=True))
    return tuple(_KNOWN[setting] for setting in settings)


def _calibrated(_: None, setting: Setting) -> ggdp.Calibration:
    return setting.sanitiser.calibrate(setting.epsilon, setting.delta)
