"""A made-up stand-in for the adult data, with the same columns."""

import numpy as np

from ggdp_reproduction.adult_data import Adult

COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
LEVELS = {
    "workclass": ["Private", "State-gov", "?"],
    "education": ["Bachelors", "HS-grad", "Masters"],
    "marital-status": ["Divorced", "Married"],
    "occupation": ["Craft", "Sales", "?"],
    "relationship": ["Husband", "Wife"],
    "race": ["Black", "White"],
    "sex": ["Female", "Male"],
    "native-country": ["Cuba", "Peru"],
}


def census(size=600):
    """Return rows of which some lack values and some have the largest gain; income follows age and education."""
    draw = np.random.default_rng(1)
    rows = {
        "age": draw.integers(20, 60, size),
        "fnlwgt": draw.integers(1, 10**6, size),
        "education-num": draw.integers(1, 4, size),
        "capital-gain": draw.choice([0, 0, 0, 500, 99_999], size),
        "capital-loss": np.zeros(size, dtype=np.int64),
        "hours-per-week": draw.choice([20, 40, 60], size),
    }
    for name, levels in LEVELS.items():
        rows[name] = draw.choice(levels, size, p=[0.48, 0.48, 0.04] if "?" in levels else None)
    rich = rows["age"] + 8 * rows["education-num"] + draw.normal(0, 4, size) > 60
    rows["income"] = np.where(rich, ">50K", "<=50K")
    return Adult(columns=COLUMNS, rows=rows, origin="made up", source="none")
