"""How far one person can move a query: global sensitivities.

A query is a vector s(x) of numbers, and d = s(x) - s(x') is what changes between neighboring data sets. A
sensitivity is a set that holds every such d:

=========  ==================================================================================
cells      at most m coordinates move, each by at most D
box        coordinate k moves by at most D_k; with a joint norm also ||d||_q <= D_q
norm       ||d||_q <= D_q in r coordinates, nothing else known
groups     counts of the same units in several groups of cells: one unit adds at most D to each of at most
           m cells of a group, and exactly D to m cells of a complete group
=========  ==================================================================================

The relation of neighbours is part of it: the same histogram has m = 1 when a row is added or removed and m = 2 when
it is replaced.

References
----------
Liu, arXiv 1602.06028 v5, Definition 1 (l_p global sensitivity), Lemma 2 (its upper bound from the coordinates),
Claim 3 (from bounds).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby, repeat
from typing import Any, Literal, TypeAlias, get_args

from ggdp import _validate
from ggdp._rounding import rounded_text, rounded_up, rounded_up_text
from ggdp.errors import ArgumentError
from ggdp.privacy.guarantees import Neighbours, validated_neighbours

# More than twice the bits of a float: a norm is off by less than an ulp.
_PRECISION = 128


def norm_order(**named: object) -> float:
    """Return the one argument as the order of a norm, a float of at least 1 or infinity."""
    ((name, value),) = named.items()
    if isinstance(value, float) and value == math.inf:
        return math.inf
    order = _validate.finite(**named)
    if order < 1.0:
        raise ArgumentError(name, value, "must be at least 1: it is the order of a norm")
    return order


def norm_of(sizes: Iterable[tuple[float, int]], p: float) -> float:
    """Return the l_p norm of a vector given as (size, how often), rounded up: exact where a float can be."""
    runs = list(sizes)
    largest = max(size for size, _ in runs)
    if p == math.inf or (len(runs) == 1 and runs[0][1] == 1):
        return largest
    if p == 1.0:
        return rounded_up(sum((Fraction(size) * count for size, count in runs), Fraction(0)), of="sensitivity")
    # flint is loaded when a norm needs it, not with `import ggdp`.
    from flint import arb

    from ggdp._balls import BALLS, upper_float, working_precision

    with BALLS, working_precision(_PRECISION):
        # Relative to the largest size, so that no power leaves the range of a ball.
        terms = sum((count * (arb(size) / arb(largest)) ** arb(p) for size, count in runs), arb(0))
        norm = upper_float(arb(largest) * terms ** (1 / arb(p)))
    if not math.isfinite(norm):
        expected = "does not fit in a 64-bit float; change the unit of the query"
        raise ArgumentError("sensitivity", "above 1e308", expected)
    return norm


def _widths(bounds: Iterable[tuple[float, float]]) -> tuple[float, ...]:
    return tuple(rounded_up(Fraction(high) - Fraction(low), of="bounds") for low, high in bounds)


Kind: TypeAlias = Literal["cells", "box", "norm", "groups"]


def _changed_cells(
    cells: Iterable[int], complete: Iterable[bool] | None, most: int, neighbours: Neighbours
) -> Iterator[tuple[int, int]]:
    """Yield how many cells of each group one unit can raise, and how many it can change."""
    for k, is_complete in zip(cells, complete or repeat(False), strict=False):
        if neighbours == "add-remove":
            yield min(most, k), min(most, k)
        elif is_complete:
            # Both units are in exactly `most` cells, so they share at least 2 most - k of them.
            yield min(most, k - most), 2 * min(most, k - most)
        else:
            yield min(most, k), min(2 * most, k)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """How far one person can move a query. Made by the named constructors.

    What is made by hand, or by `dataclasses.replace`, passes the same checks: fields that contradict each other are
    refused.

    Attributes
    ----------
    kind : {"cells", "box", "norm", "groups"}
        Which set of changes it describes.
    sizes : tuple of float
        "cells", "groups": the one D; "box": every D_k; "norm": the one D_q, which no coordinate can exceed (on a grid,
        where rounding adds to the norm, it may be less than the joint bound).
    moving : int
        How many coordinates can move at once: m, the length of the box, the dimension, or the sum over the groups.
    joint : tuple of float, optional
        A known joint bound (q, D_q) on the l_q norm of the whole change.
    neighbours : {"add-remove", "replace-one"}
        The relation of neighbours.
    bounds : tuple of (lower, upper), optional
        The bounds that the sizes were taken from; values outside are clamped before noise is added.
    group_cells, complete : tuple of int, tuple of bool, optional
        Of "groups": how many cells each group has, and which are complete; `complete` is None if none is.
    max_cells : int, optional
        Of "groups": the largest number of cells of a group that one unit is counted in.

    Examples
    --------
    >>> Sensitivity.histogram(neighbours="replace-one").lp(1)
    2.0
    >>> Sensitivity.box([3.0, 4.0]).lp(float("inf"))
    4.0
    """

    kind: Kind
    sizes: tuple[float, ...]
    moving: int
    joint: tuple[float, float] | None = None
    neighbours: Neighbours = "add-remove"
    bounds: tuple[tuple[float, float], ...] | None = None
    group_cells: tuple[int, ...] | None = None
    complete: tuple[bool, ...] | None = None
    max_cells: int | None = None

    def __post_init__(self) -> None:
        kind = _validate.choice(among=get_args(Kind), kind=self.kind)
        sizes = tuple(_validate.covering(sizes=size) for size in _validate.non_empty(sizes=self.sizes))
        moving = _validate.integer(moving=self.moving, at_least=1)
        if kind == "box" and moving != len(sizes):
            raise ArgumentError("moving", moving, f"a box of {len(sizes)} sizes has as many coordinates that can move")
        if kind != "box" and len(sizes) != 1:
            raise ArgumentError("sizes", sizes, f"the kind {kind!r} has one size")
        bounds = None if self.bounds is None else _validate.intervals(bounds=self.bounds)
        if bounds is not None and (kind != "box" or _widths(bounds) != sizes):
            raise ArgumentError("bounds", self.bounds, "must be those that the sizes are the widths of")
        found = {"sizes": sizes, "moving": moving, "joint": self._checked_joint(sizes), "bounds": bounds}
        for name, value in {**found, "neighbours": validated_neighbours(self.neighbours)}.items():
            object.__setattr__(self, name, value)
        self._check_groups()

    def _check_groups(self) -> None:
        """Check the fields of the kind "groups", which no other kind has."""
        if self.kind != "groups":
            for name in ("group_cells", "complete", "max_cells"):
                if getattr(self, name) is not None:
                    raise ArgumentError(name, getattr(self, name), "is for the kind 'groups'")
            return
        cells = tuple(_validate.integer(cells=k, at_least=1) for k in _validate.non_empty(cells=self.group_cells))
        m, complete = _validate.integer(max_cells=self.max_cells, at_least=1), self.complete
        if complete is not None:
            complete = _validate.booleans(complete=complete)
            if len(complete) != len(cells):
                raise ArgumentError("complete", complete, f"must be True or False for each of {len(cells)} groups")
            if any(one and k < m for k, one in zip(cells, complete, strict=True)):
                expected = "one unit is in exactly this many cells of a complete group, which needs as many cells"
                raise ArgumentError("max_cells", m, expected)
        for name, value in (("group_cells", cells), ("complete", complete if complete and any(complete) else None)):
            object.__setattr__(self, name, value)
        moving = sum(changed for _, changed in _changed_cells(cells, complete, m, self.neighbours))
        if moving == 0:
            raise ArgumentError("complete", complete, "no count can change: every unit is in the same cells")
        if self.moving != moving:
            raise ArgumentError("moving", self.moving, f"must be {moving}, the number of cells that can change at once")

    def _checked_joint(self, sizes: tuple[float, ...]) -> tuple[float, float] | None:
        """Return the joint norm, if it is one that this kind of sensitivity has."""
        if self.joint is None:
            if self.kind == "norm":
                raise ArgumentError("joint", None, "the kind 'norm' needs (order of the norm, bound)")
            return None
        if self.kind in ("cells", "groups"):
            raise ArgumentError("joint", self.joint, f"the kind {self.kind!r} has no joint norm; use Sensitivity.box")
        pair = _validate.non_empty(joint=self.joint)
        if len(pair) != 2:
            raise ArgumentError("joint", self.joint, "must be a pair (order of the norm, bound)")
        joint = (norm_order(joint=pair[0]), _validate.covering(joint=pair[1]))
        if self.kind == "norm" and not (sizes[0] == joint[1] or (self.moving > 1 and sizes[0] < joint[1])):
            # On a grid rounding may add more to the norm than to the coordinate.
            raise ArgumentError("sizes", sizes, f"must be the bound {joint[1]!r} of the norm")
        return joint

    @classmethod
    def histogram(cls, neighbours: Neighbours = "add-remove", max_cells: int = 1) -> Sensitivity:
        """Return the sensitivity of counts by disjoint cells, with one unit in at most `max_cells` of them.

        Under add/remove `max_cells` counts move by 1; under replace-one twice as many.

        Parameters
        ----------
        neighbours : {"add-remove", "replace-one"}, default "add-remove"
            The relation of neighbours.
        max_cells : int, default 1
            In how many cells one unit is counted at most.

        Examples
        --------
        >>> Sensitivity.histogram("replace-one", max_cells=3).moving
        6
        """
        m = _validate.integer(max_cells=max_cells, at_least=1)
        relation = validated_neighbours(neighbours)
        return cls.cells(m if relation == "add-remove" else 2 * m, 1, neighbours=relation)

    @classmethod
    def disjoint(cls, d: float, *, neighbours: Neighbours = "add-remove") -> Sensitivity:
        """Return the sensitivity of a scalar, or of statistics of disjoint parts of the data: one moves by at most `d`.

        Parameters
        ----------
        d : float
            The largest change of the one coordinate that moves.
        neighbours : {"add-remove"}
            Only "add-remove": a replaced row can leave one part and enter another.

        Examples
        --------
        >>> Sensitivity.disjoint(1).lp(3)
        1.0
        """
        if validated_neighbours(neighbours) == "replace-one":
            expected = (
                "a replaced row can move two disjoint statistics at once; use "
                "Sensitivity.histogram(neighbours='replace-one') for counts (--max-cells 1 on the command line), "
                "Sensitivity.cells(2, d, neighbours='replace-one') for other disjoint statistics, or "
                "Sensitivity.cells(1, d, neighbours='replace-one') for a scalar"
            )
            raise ArgumentError("neighbours", neighbours, expected)
        return cls.cells(1, d)

    @classmethod
    def cells(cls, m: int, d: float, *, neighbours: Neighbours = "add-remove") -> Sensitivity:
        """Return the sensitivity of a query of which at most `m` coordinates move at once, each by at most `d`.

        Parameters
        ----------
        m : int
            How many coordinates can move.
        d : float
            How far each can move.
        neighbours : {"add-remove", "replace-one"}, default "add-remove"
            The relation of neighbours.

        Examples
        --------
        >>> Sensitivity.cells(4, 0.5).lp(2) >= 1.0
        True
        """
        sizes, moving = (_validate.covering(d=d),), _validate.integer(m=m, at_least=1)
        return cls(kind="cells", sizes=sizes, moving=moving, neighbours=neighbours)

    @classmethod
    def box(
        cls, d: Iterable[float], norm: tuple[float, float] | None = None, *, neighbours: Neighbours = "add-remove"
    ) -> Sensitivity:
        """Return the sensitivity of a query whose coordinate k moves by at most ``d[k]``.

        Parameters
        ----------
        d : sequence of float
            The largest change of each coordinate.
        norm : tuple of float, optional
            ``(q, D_q)``: a joint bound on the l_q norm of the whole change, where one is known.
        neighbours : {"add-remove", "replace-one"}, default "add-remove"
            The relation of neighbours.

        Examples
        --------
        >>> Sensitivity.box([1, 0.1, 0.05]).lp(float("inf"))
        1.0
        """
        sizes = tuple(_validate.covering(d=size) for size in _validate.non_empty(d=d))
        joint = None
        if norm is not None:
            pair = _validate.non_empty(norm=norm)
            if len(pair) != 2:
                raise ArgumentError("norm", norm, "must be a pair (order of the norm, bound)")
            joint = (norm_order(norm=pair[0]), _validate.covering(norm=pair[1]))
        return cls(kind="box", sizes=sizes, moving=len(sizes), joint=joint, neighbours=neighbours)

    @classmethod
    def norm(cls, p: float, d: float, *, dimension: int, neighbours: Neighbours = "add-remove") -> Sensitivity:
        """Return the sensitivity of a query of which only the l_p norm of the change is bounded.

        Parameters
        ----------
        p : float
            Order of the norm, at least 1; infinity is allowed.
        d : float
            Bound on the norm.
        dimension : int
            How many coordinates the query has.
        neighbours : {"add-remove", "replace-one"}, default "add-remove"
            The relation of neighbours.

        Examples
        --------
        >>> Sensitivity.norm(2, 1.0, dimension=10).lp(2)
        1.0
        """
        size, moving = _validate.covering(d=d), _validate.integer(dimension=dimension, at_least=1)
        joint = (norm_order(p=p), size)
        return cls(kind="norm", sizes=(size,), moving=moving, joint=joint, neighbours=neighbours)

    @classmethod
    def groups(
        cls,
        cells: Iterable[int],
        max_cells: int = 1,
        d: float = 1,
        *,
        complete: Iterable[bool] | None = None,
        neighbours: Neighbours = "add-remove",
    ) -> Sensitivity:
        """Return the sensitivity of counts of the same units in several groups of cells, such as several tables.

        Noise that is independent in every cell needs as much as for all cells that one unit can change;
        `ggdp.MinkowskiMechanism` needs less.

        Parameters
        ----------
        cells : sequence of int
            How many cells each group has.
        max_cells : int, default 1
            In how many cells of a group one unit is counted at most.
        d : int, default 1
            How much one unit adds to a cell at most.
        complete : sequence of bool, optional
            Which groups are complete: every unit is counted in exactly `max_cells` cells of it, and adds exactly `d` to
            each. None by default.
        neighbours : {"add-remove", "replace-one"}, default "add-remove"
            The relation of neighbours.

        Examples
        --------
        >>> print(Sensitivity.groups([2, 2, 5], complete=[True, True, False]))
        one unit is in at most 1 cell of each group, adding at most 1; cells: 2 x 2 complete, 1 x 5 (add-remove)
        >>> Sensitivity.groups([2, 2, 5], neighbours="replace-one").lp(1)
        6.0
        """
        sizes = tuple(_validate.integer(cells=k, at_least=1) for k in _validate.non_empty(cells=cells))
        which = None if complete is None else _validate.booleans(complete=complete)
        m, relation = _validate.integer(max_cells=max_cells, at_least=1), validated_neighbours(neighbours)
        moving = sum(changed for _, changed in _changed_cells(sizes, which, m, relation))
        return cls(
            kind="groups",
            sizes=(_validate.covering(d=d),),
            moving=max(moving, 1),
            neighbours=relation,
            group_cells=sizes,
            complete=which,
            max_cells=m,
        )

    @classmethod
    def from_bounds(
        cls, bounds: tuple[float, float] | Iterable[tuple[float, float]], *, neighbours: Neighbours = "add-remove"
    ) -> Sensitivity:
        """Return the sensitivity of statistics in public bounds: each moves by at most its width (v5, Claim 3).

        Parameters
        ----------
        bounds : (lower, upper) or sequence of (lower, upper)
            Bounds of the one statistic, or of each. A mechanism clamps values outside silently, so that the widths
            hold.
        neighbours : {"add-remove", "replace-one"}, default "add-remove"
            The relation of neighbours.

        Examples
        --------
        >>> Sensitivity.from_bounds([(0, 10), (-1, 1)]).sizes
        (10.0, 2.0)
        """
        pairs = _validate.intervals(bounds=bounds)
        return replace(cls.box(_widths(pairs), neighbours=neighbours), bounds=pairs)

    @property
    def largest(self) -> float:
        """Largest change of any one coordinate."""
        return min([max(self.sizes)] + ([self.joint[1]] if self.joint else []))

    @property
    def largest_group(self) -> float:
        """Of "groups": the most that all increases of one group, or all decreases, add up to."""
        assert self.group_cells is not None
        assert self.max_cells is not None
        changed = _changed_cells(self.group_cells, self.complete, self.max_cells, self.neighbours)
        return rounded_up(max(raised for raised, _ in changed) * Fraction(self.sizes[0]), of="sensitivity")

    @property
    def is_per_coordinate(self) -> bool:
        """Whether the change of each coordinate is bounded, and not only a norm of the whole change."""
        return self.kind != "norm"

    @property
    def has_fixed_dimension(self) -> bool:
        """Whether the query has exactly `moving` coordinates; one with "cells" or "groups" may have more."""
        return self.kind not in ("cells", "groups")

    @property
    def corner(self) -> tuple[tuple[float, int], ...]:
        """The far corner of the set as (size, how many coordinates), the largest size first.

        Except for "norm" every change lies in the box that this corner spans, up to the choice of coordinates.
        A "norm" spans no useful corner: its box is the cube of side D_q.
        """
        if self.kind == "box":
            return tuple(sorted(Counter(self.sizes).items(), reverse=True))
        return ((self.sizes[0], self.moving),)

    def repeated(self, times: int) -> Sensitivity:
        """Return the sensitivity of several such queries together, each of which one person can move as far.

        Parameters
        ----------
        times : int
            How many queries.

        Examples
        --------
        >>> print(Sensitivity.histogram(max_cells=3).repeated(4))
        at most 12 coordinates move, each by at most 1 (add-remove)
        """
        number = _validate.integer(times=times, at_least=1)
        if number == 1:
            return self
        sizes, joint = (self.sizes * number if self.kind == "box" else self.sizes), self.joint
        if joint is not None:
            joint = (joint[0], norm_of([(joint[1], number)], joint[0]))
            sizes = (joint[1],) if self.kind == "norm" else sizes
        changed: dict[str, Any] = {"sizes": sizes, "moving": number * self.moving, "joint": joint, "bounds": None}
        if self.group_cells is not None:
            changed |= {"group_cells": self.group_cells * number, "complete": self.complete and self.complete * number}
        return replace(self, **changed)

    def lp(self, p: float) -> float:
        """Return the l_p global sensitivity, or its best known upper bound, rounded up.

        Exact for "cells" and "groups", for a norm of the same order and for every norm of an order below p; for a "box"
        it is the upper bound of Lemma 2, which the corner attains, or the one that the joint norm gives if that is
        smaller.

        Parameters
        ----------
        p : float
            Order of the norm, at least 1; infinity is allowed.

        Examples
        --------
        >>> round(Sensitivity.box([1, 0.1, 0.05]).lp(2), 6)
        1.006231
        >>> Sensitivity.norm(2, 1.0, dimension=4).lp(1)
        2.0...
        """
        order = norm_order(p=p)
        if self.joint is None:
            return norm_of(self.corner, order)
        q, bound = self.joint
        from_joint = bound
        if order < q:
            from flint import arb

            from ggdp._balls import BALLS, upper_float, working_precision

            # Hoelder: ||d||_p <= r^(1/p - 1/q) ||d||_q for p < q; for p >= q the norms only shrink.
            with BALLS, working_precision(_PRECISION):
                exponent = 1 / arb(order) - (0 if q == math.inf else 1 / arb(q))
                from_joint = upper_float(arb(bound) * arb(self.moving) ** exponent)
        return from_joint if self.kind == "norm" else min(from_joint, norm_of(self.corner, order))

    def __str__(self) -> str:
        if self.kind == "cells":
            moves = "one coordinate moves" if self.moving == 1 else f"at most {self.moving:,} coordinates move, each"
            what = f"{moves} by at most {rounded_up_text(self.sizes[0], 6)}"
        elif self.kind == "box":
            shown = ", ".join(rounded_up_text(size, 6) for size in self.sizes[:6])
            more = f", ... ({len(self.sizes):,} in all)" if len(self.sizes) > 6 else ""
            what = f"coordinates move by at most {shown}{more}"
        elif self.group_cells is not None:
            alike = groupby(zip(self.group_cells, self.complete or repeat(False), strict=False))
            shown = ", ".join(
                f"{len(list(run)):,} x {k:,}{' complete' if is_complete else ''}" for (k, is_complete), run in alike
            )
            cells = "1 cell" if self.max_cells == 1 else f"{self.max_cells:,} cells"
            added = rounded_up_text(self.sizes[0], 6)
            what = f"one unit is in at most {cells} of each group, adding at most {added}; cells: {shown}"
        else:
            what = f"{self.moving:,} coordinates move"
        if self.joint:
            norm = rounded_text(self.joint[0], 6)
            what += f", together by at most {rounded_up_text(self.joint[1], 6)} in the l_{norm} norm"
        return f"{what} ({self.neighbours})"
