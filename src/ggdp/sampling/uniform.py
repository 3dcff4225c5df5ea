"""Exactly uniform integers and sets of them, from words of 64 bits.

=======  ====================================================================
R        how many integers there are to choose from: 0, 1, ..., R - 1
w        bits of a word, 64 but for tests
=======  ====================================================================

Claim (integers). The draws are uniform and independent. Proof: words from the largest multiple of R that is at most 2^w
on are drawn again; below it every remainder modulo R has equally many words.

Claim (sets). Every set of so many integers is equally likely. Proof: it is the first so many distinct ones of a
sequence of independent draws, since each round draws as many as are missing, so that none is ever too many. Renaming
the integers leaves the law of the sequence as it is, so that no set is likelier than another. More than half of all
integers are the complement of such a set.

Timing. Rounds that draw again are told by the draws alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.sampling.entropy import random_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.sampling.entropy import Source

_WORD = 64


def uniform_integers(total: int, size: int, source: Source, *, word: int = _WORD) -> NDArray[np.int64]:
    """Return independent uniform integers from 0 to total - 1, for a total of at least 1 and at most 2^63.

    Examples
    --------
    >>> from ggdp import SecureSource
    >>> bool((uniform_integers(10, 1000, SecureSource()) < 10).all())
    True
    """
    last = (1 << word) // total * total - 1
    drawn = np.empty(size, dtype=np.uint64)
    places = np.arange(size)
    while places.size:
        words = random_words(source, places.size) >> np.uint64(64 - word)
        drawn[places] = words
        places = places[words > np.uint64(last)]
    return (drawn % np.uint64(total)).astype(np.int64)


def distinct_integers(total: int, size: int, source: Source, *, word: int = _WORD) -> NDArray[np.int64]:
    """Return a set of `size` integers from 0 to total - 1, each as likely as any other, in increasing order.

    Examples
    --------
    >>> from ggdp import SecureSource
    >>> distinct_integers(5, 5, SecureSource()).tolist(), distinct_integers(10**18, 3, SecureSource()).size
    ([0, 1, 2, 3, 4], 3)
    """
    if 2 * size > total:
        left = np.ones(total, dtype=np.bool_)
        left[distinct_integers(total, total - size, source, word=word)] = False
        return np.flatnonzero(left)
    found = np.empty(0, dtype=np.int64)
    while found.size < size:
        new = np.sort(uniform_integers(total, size - found.size, source, word=word))
        # Two sorted runs, which a stable sort merges.
        both = np.sort(np.concatenate((found, new)), kind="stable")
        found = both[np.append(True, both[1:] != both[:-1])]
    return found
