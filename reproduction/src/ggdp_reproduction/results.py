"""What a reproduction is made of: claims with their verdicts, figures, and everything that was run.

=========  ====================================================================================
claim      a sentence of the paper that can be measured, our numbers, and a verdict
drawing    a figure as SVG, with the numbers it was drawn from
results    one whole run: settings, versions, experiments, drawings, claims
=========  ====================================================================================

References
----------
Liu, arXiv 1602.06028 v5.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ggdp.errors import ArgumentError
from ggdp_reproduction.experiments.counts import JEFFREYS
from ggdp_reproduction.experiments.sanitisers import QUICK_REPEATS, REPEATS, TABLE_REPEATS

if TYPE_CHECKING:
    from ggdp_reproduction.experiments.classifier import SvmRun
    from ggdp_reproduction.experiments.counts import CountRun
    from ggdp_reproduction.experiments.lower_bounds import LowerBounds

Row: TypeAlias = dict[str, Any]
Verdict: TypeAlias = Literal["holds", "holds only if", "does not hold", "not measurable", "not measured"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim of the paper, measured.

    Examples
    --------
    >>> Claim(key="scalar", place="Section 2.2", claim="...", verdict="holds", measured="1 at every order").verdict
    'holds'

    """

    key: str  # a short name, unique in a run
    place: str  # where the paper says it, such as "Section 3, Lemma 11"
    claim: str  # what it says, in its words or close to them
    # "holds", "holds only if", "does not hold", "not measurable" (an opinion, or a word that the paper does not define)
    # or "not measured" (not run, or too few repeats to decide).
    verdict: Verdict
    condition: str = ""  # under which condition it holds, where it holds only then
    measured: str  # our numbers
    figure: str | None = None  # key of the figure that shows it
    caveat: str = ""  # what a reader must know of the experiment it rests on; empty where there is nothing

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ArgumentError("verdict", self.verdict, "must be one of " + ", ".join(VERDICTS))
        if bool(self.condition) != (self.verdict == "holds only if"):
            raise ArgumentError("condition", self.condition, "stands with the verdict 'holds only if', and only there")

    @property
    def section(self) -> str:
        """The section of the paper, such as "Section 3"."""
        return self.place.split(",")[0].split(".")[0]

    def to_dict(self) -> dict[str, str | None]:
        """Return the claim as it is written to ``claims.json``."""
        return {name: value or None for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A figure of the report."""

    key: str  # its name, which claims refer to
    title: str  # its heading
    caption: str  # what to see in it
    place: str  # the paper's figure that it reproduces, or what it adds
    svg: str  # the picture, fit to stand inside a page of either theme
    rows: list[Row] = field(default_factory=list)  # the numbers it was drawn from; empty where they are in another file


@dataclass(slots=True, kw_only=True)
class Results:
    """A whole run."""

    what: str  # which part was requested
    quick: bool  # whether it was a small run
    seed: int  # the seed of all its randomness
    repeats: int | None  # requested repeats of the counts; by default those of each data set (`repeats_of`)
    svm_repeats: int  # repeats of the classifier
    # Requested privacy parameters that replace the paper's.
    epsilons: tuple[float, ...] | None = None
    deltas: tuple[float, ...] | None = None
    prior: float = JEFFREYS  # weight of the Dirichlet prior of the divergences
    adult_file: str = ""  # name of the file with the adult data, where one was given
    versions: dict[str, str] = field(default_factory=dict)  # versions of what the numbers depend on
    counts: dict[str, CountRun] = field(default_factory=dict)  # runs by data set
    svm: SvmRun | None = None  # the run of the classifier
    adult: dict[str, float] = field(default_factory=dict)  # facts about the adult data, if they were loaded
    # The scales of Fig. 2.
    bounds: LowerBounds | None = None
    drawings: list[Drawing] = field(default_factory=list)  # figures in the order of the paper
    claims: list[Claim] = field(default_factory=list)  # claims in the order of the paper
    notes: list[str] = field(default_factory=list)  # what could not be run, and why

    def repeats_of(self, dataset: str) -> int:
        """Return how often the counts of a data set are sanitised."""
        if self.repeats is not None:
            return self.repeats
        return QUICK_REPEATS if self.quick else REPEATS if dataset == "adult" else TABLE_REPEATS

    def drawing(self, key: str | None) -> Drawing | None:
        """Return a figure by its key, or None where this run does not have it."""
        return next((drawing for drawing in self.drawings if drawing.key == key), None)
