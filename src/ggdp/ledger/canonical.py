"""One text for plain values, which is what is stored, hashed and compared."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ggdp.errors import TamperingError


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


def parsed(text: str) -> Any:  # noqa: ANN401 - any plain values
    """Return the plain values of a text that `canonical` wrote, or raise if it cannot have."""
    try:
        return json.loads(text)
    except (RecursionError, TypeError, ValueError):
        message = "what the ledger holds is not what ggdp writes: it was changed"
        raise TamperingError(message) from None
