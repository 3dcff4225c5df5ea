"""Make the two files of incomes in this directory: ``python docs/examples/make_incomes.py``.

Nobody in them exists. Incomes are drawn from log-normal laws, by a seed, so that the files are the same each time.
"""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

# Region: how many people live there, and the median of their incomes.
REGIONS = {
    "city": (4200, 31_000),
    "coast": (2300, 27_000),
    "hills": (900, 24_000),
    "plain": (230, 22_000),
    "islands": (25, 26_000),
}
SPREAD = 0.45
NO_INCOME, NO_ANSWER = 0.03, 0.02
PEOPLE_WITH_JOBS = 1500


def _text(rows: list[tuple[object, ...]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def incomes() -> str:
    """Return a file with one row for each person: region, sex, income of a year and hours of work in a week."""
    draw, work = random.Random(15), random.Random(17)
    people: list[tuple[object, ...]] = []
    for region, (number, median) in REGIONS.items():
        for _ in range(number):
            income: object = round(median * draw.lognormvariate(0.0, SPREAD))
            chance = draw.random()
            if chance < NO_INCOME:
                income = 0
            elif chance > 1.0 - NO_ANSWER:
                income = "refused" if draw.random() < 0.5 else ""
            people.append((region, draw.choice("fm"), income, max(round(work.gauss(37.0, 9.0)), 0)))
    draw.shuffle(people)
    return _text([("region", "sex", "income", "hours"), *people])


def jobs() -> str:
    """Return a file with one row for each job of a person in a year: one to four, some in other regions."""
    draw = random.Random(16)
    regions = list(REGIONS)
    sizes = [number for number, _ in REGIONS.values()]
    rows: list[tuple[object, ...]] = []
    for person in range(1, PEOPLE_WITH_JOBS + 1):
        home = draw.choices(regions, sizes)[0]
        number = draw.choices([1, 2, 3, 4], [70, 20, 7, 3])[0]
        for _ in range(number):
            region = home if draw.random() < 0.8 else draw.choices(regions, sizes)[0]
            pay = round(REGIONS[region][1] * draw.lognormvariate(0.0, SPREAD) / number)
            rows.append((f"T{person:04}", region, pay))
    return _text([("person", "region", "pay"), *rows])


if __name__ == "__main__":
    here = Path(__file__).parent
    (here / "incomes.csv").write_text(incomes(), encoding="utf-8", newline="")
    (here / "jobs.csv").write_text(jobs(), encoding="utf-8", newline="")
