"""A small table of people, its public domain, and releases of it from the command line."""

import csv
import os
from pathlib import Path

from ggdp.cli.app import run

PEOPLE = """person,town,age
p1,"Aach, Bodensee",17
p1,Zell,18
p2,Zell,
p3,Bonn,44
"""
DOMAIN = '[columns.town]\nlevels = ["Aach, Bodensee", "Zell"]\nother = "elsewhere"\n'
BY_TOWN = ("--by", "town", "--domain", "people.toml")
UNITS = (*BY_TOWN, "--unit", "person")


def release(*flags, source="people.csv"):
    return run(["release", source, "--epsilon", "1", *flags])


def warned(err):
    """Return what is on standard error beyond what a small table without a declared unit is warned of."""
    usual = ("warning: no unit is declared", "warning: table town: the published counts are consistent with an empty")
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith(usual))


def written():
    return sorted(set(os.listdir()) - {"people.csv", "people.toml"})


def rows_of(file):
    with Path(file).open(newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))
