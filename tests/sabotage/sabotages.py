"""All sabotages, collected from the modules of `tests/sabotage/lists`; `tests/sabotage/run.py` runs them."""

import importlib
import pkgutil
from pathlib import Path

FOLDER = Path(__file__).parent / "lists"

SABOTAGES = [
    sabotage
    for module in pkgutil.iter_modules([str(FOLDER)])
    for sabotage in importlib.import_module(f"tests.sabotage.lists.{module.name}").SABOTAGES
]
