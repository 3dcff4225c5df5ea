"""Changes of a manifest: each field, key and item, to other values of its type and of others."""

import copy
from dataclasses import dataclass
from typing import Any

OTHER_WORDS = {
    "add-remove": "replace-one",
    "replace-one": "add-remove",
    "pure": "approximate",
    "approximate": "probabilistic",
    "probabilistic": "pure",
    "units": "rows",
    "rows": "units",
    "row": "column",
    "column": "row",
    "declared": "sparse",
    "sparse": "declared",
    "open": "declared",
    "mixed": "open",
    "tight": "paper",
    "paper": "tight",
    "integer": "number",
    "number": "integer",
    "label": "integer",
    "string": "date",
    "date": "string",
    "noise": "selection",
    "selection": "noise",
    "response": "noise",
    "auto": 1.0,
    "mean": "sum",
    "sum": "mean",
    "pair": "count",
    "count": "sum",
    "by-values": "publicly",
    "publicly": "by-values",
}
# Digests and identities of ledgers stay what they look like.
OTHER_DIGITS = str.maketrans("0123456789", "1234567890")
TYPES = (None, True, 7, 0.25, "other", [], {})


@dataclass(frozen=True)
class Change:
    """What is done at a place: `set` to a new value, `remove`, `add` a key, `repeat` or `exchange` items."""

    path: tuple
    what: str
    new: Any = None

    @property
    def name(self):
        """The place, as messages name it."""
        return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path).lstrip(".")


def changes(node, path=()):
    """Yield every change of a manifest."""
    if path:
        yield from (Change(path, "set", new) for new in others(node))
        yield Change(path, "remove")
    if isinstance(node, dict):
        yield Change(path, "add", "another")
        for name, item in node.items():
            yield from changes(item, (*path, name))
    if isinstance(node, list) and node:
        yield Change(path, "repeat")
        if node != node[::-1]:
            yield Change(path, "exchange")
        for place, item in enumerate(node):
            yield from changes(item, (*path, place))


def others(value):
    """Return values that differ from a value: of its type, and one of each other type."""
    found = [other for other in TYPES if type(other) is not type(value)]
    if isinstance(value, bool):
        found.append(not value)
    elif isinstance(value, int):
        found += [value + 1, value - 1, 2 * value + 3]
    elif isinstance(value, float):
        found += [value / 2, 2 * value, value * (1.0 + 1e-6), value * (1.0 - 1e-4), 100.0]
    elif isinstance(value, str):
        found += [value + "x", "", OTHER_WORDS.get(value, value[1:]), value.translate(OTHER_DIGITS)]
    # Other programs may write 1.0 as 1: that is no change.
    return [new for new in found if new != value or isinstance(new, bool) != isinstance(value, bool)]


def changed(manifest, *several):
    """Return a manifest with some changes, the later ones of places that are still there."""
    found = copy.deepcopy(manifest)
    for change in several:
        if not change.path:
            found["another"] = change.new
            continue
        holder = found
        try:
            for step in change.path[:-1]:
                holder = holder[step]
            last = change.path[-1]
            if change.what == "set":
                holder[last] = change.new
            elif change.what == "remove":
                del holder[last]
            elif change.what == "add":
                holder[last]["another"] = change.new
            elif change.what == "repeat":
                holder[last].append(copy.deepcopy(holder[last][-1]))
            else:
                holder[last].reverse()
        except (LookupError, TypeError, AttributeError):
            continue
    return found
