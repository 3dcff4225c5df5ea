"""One text for plain values: what is hashed, and what is compared."""

from __future__ import annotations

import json

__all__ = ["canonical"]


def canonical(plain: object) -> str:
    r"""Return plain values as JSON with sorted keys and no spaces, in ASCII.

    Examples
    --------
    >>> canonical({"b": [1, None], "a": "é"})
    '{"a":"\\u00e9","b":[1,null]}'
    """
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
