"""The record of one step of post-processing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Adjustment:
    """One step of post-processing.

    Attributes
    ----------
    name : str
        Name of the function.
    parameters : tuple of (name, value)
        What it was called with, as plain values.
    """

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def chosen_by_values(self) -> bool:
        """Whether cells were dropped, possibly based on their noisy values."""
        return ("chosen", "by-values") in self.parameters

    def in_words(self) -> str:
        """Return what was done, for readers."""
        given = dict(self.parameters)
        if self.name == "clip":
            ends = [f"at least {given['lower']}"] * (given["lower"] is not None)
            ends += [f"at most {given['upper']}"] * (given["upper"] is not None)
            return "values were clipped to be " + " and ".join(ends)
        if self.name == "drop":
            return f"{given['of'] - given['left']:,} of {given['of']:,} cells were left out"
        if self.name == "fit_total":
            kept = "that are not negative and add up to" if given["nonnegative"] else "that add up to"
            each = " in each table" if given["parts"] > 1 else ""
            return f"values were moved to nearby whole numbers {kept} {given['total']}{each}"
        return {
            "round_values": "values were rounded to whole numbers",
            "normalise": f"values were scaled to add up to {given.get('total')}",
            "project": "values were moved to the nearest ones that are not negative and add up to "
            f"{given.get('total')}",
        }[self.name]

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain values, ready for JSON."""
        return {"name": self.name, **dict(self.parameters)}

    def __str__(self) -> str:
        inside = ", ".join(f"{name} = {value}" for name, value in self.parameters)
        return f"{self.name}({inside})"
