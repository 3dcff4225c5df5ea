"""One text for plain values, which is what is stored, hashed and compared."""

from __future__ import annotations

import hashlib
import json

__all__ = ["canonical", "digest_of"]


def canonical(plain: object) -> str:
    r"""Return plain values as JSON with sorted keys and no spaces, in ASCII.

    Examples
    --------
    >>> canonical({"b": [1, None], "a": "é"})
    '{"a":"\\u00e9","b":[1,null]}'
    """
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest_of(plain: object) -> str:
    """Return the SHA-256 of plain values, in hexadecimal digits."""
    return hashlib.sha256(canonical(plain).encode()).hexdigest()
