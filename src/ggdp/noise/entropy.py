"""Random bits from the operating system, expanded by AES-256 in counter mode, and uniform integers made of them.

=============  =====================================================================================
SecureSource   the default: a stream for each thread of each process, keyed by the operating system
SeededSource   the same bits for the same seed, for tests and reproduction; what it makes is not private
Source         what the samplers need of either, or of a source of your own, which carries no guarantee
=============  =====================================================================================

A stream encrypts zeros, so its output is the cipher's key stream: no attacker who cannot break AES-256 tells it from
uniform bits. Its key lives only inside the cipher, is replaced by a fresh one from the operating system every 64 MiB,
and the memory it came in is overwritten as far as Python allows (the bytes from the operating system cannot be).
Copies of a process never share a stream: a stream knows the process and thread it was keyed in, and a fork, a pickle or
a copy starts a new one. What no library can see is a virtual machine that is saved and resumed twice.

Integers and sets of them are exactly uniform:

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

References
----------
NIST SP 800-38A (counter mode); Mironov, "On Significance of the Least Significant Bits For Differential Privacy", CCS
2012 (why the bits must come as integers and not as floats).
"""

from __future__ import annotations

import hashlib
import os
import threading
import warnings
from collections.abc import Callable
from functools import partial, wraps
from typing import ParamSpec, Protocol, TypeAlias, TypeVar

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError, EntropyError, GgdpError

Integers: TypeAlias = NDArray[np.int64]
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_KEY_BYTES, _COUNTER_BYTES, _SEED_BYTES = 32, 16, 64
_REKEY_BYTES = 1 << 26
_ZEROS = memoryview(bytes(1 << 16))
_NO_NOISE = "no noise was drawn, and nothing can be released until randomness works again"


class Source(Protocol):
    """Interface of a source of random bits. A custom one carries no guarantee: who else knows its bits is unknown."""

    def fill(self, buffer: NDArray[np.uint8]) -> int:
        """Overwrite the whole buffer with uniform random bytes and return how many were written."""


_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


# The process number alone would miss a grandchild that is given a dead ancestor's.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def _this_process() -> tuple[int, int]:
    """Return an identifier of this process that changes on fork, even outside Python."""
    return os.getpid(), _forks


class _Stream:
    """The key stream of one cipher."""

    __slots__ = ("_cipher", "left", "process")

    def __init__(self, key: bytearray, counter: bytes) -> None:
        self._cipher = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
        # The cipher holds its own expanded key by now.
        key[:] = bytes(len(key))
        self.left = _REKEY_BYTES
        self.process = _this_process()

    def write(self, target: memoryview) -> None:
        """Overwrite the target, which is not longer than what is left."""
        for start in range(0, len(target), len(_ZEROS)):
            part = target[start : start + len(_ZEROS)]
            self._cipher.update_into(_ZEROS[: len(part)], part)
        self.left -= len(target)


class SecureSource:
    """Random bits keyed by the operating system and expanded by AES-256; one stream per thread and process.

    Parameters
    ----------
    entropy : callable, default os.urandom
        Returns the requested number of bytes of fresh randomness. With any other callable, releases carry no
        guarantee.

    Examples
    --------
    >>> from ggdp import IntegerNoise
    >>> IntegerNoise(order=2, scale=5.0).sample(3, rng=SecureSource()).shape
    (3,)
    """

    __slots__ = ("_entropy", "_last", "_streams")

    def __init__(self, entropy: Callable[[int], bytes] = os.urandom) -> None:
        self._entropy = entropy
        # Its `current` is the stream of the running thread.
        self._streams = threading.local()
        self._last = b""

    @property
    def private(self) -> bool:
        """Whether the keys come from the operating system; only then does a release carry a guarantee."""
        return is_private(self)

    def __repr__(self) -> str:
        return "SecureSource()" if self.private else f"SecureSource(entropy={self._entropy!r})"

    def __reduce__(self) -> tuple[type[SecureSource], tuple[Callable[[int], bytes]]]:
        # A copy, in this process or another, gets a new key.
        return SecureSource, (self._entropy,)

    def fill(self, buffer: NDArray[np.uint8]) -> int:
        """Overwrite the whole buffer with random bytes and return how many were written."""
        target = buffer.data
        written, wanted = 0, len(target)
        while written < wanted:
            stream: _Stream | None = getattr(self._streams, "current", None)
            if stream is None or stream.left <= 0 or stream.process != _this_process():
                stream = self._streams.current = self._keyed()
            stop = min(wanted, written + stream.left)
            stream.write(target[written:stop])
            written = stop
        return written

    def _keyed(self) -> _Stream:
        """Return a stream with a fresh key."""
        fresh = self._entropy(_SEED_BYTES)
        if len(fresh) != _SEED_BYTES:
            raise EntropyError(
                f"the source of randomness gave {len(fresh)} bytes instead of {_SEED_BYTES}; {_NO_NOISE}"
            )
        digest = hashlib.sha256(fresh).digest()
        repeated, self._last = digest == self._last, digest
        if repeated or fresh[:_KEY_BYTES] == fresh[_KEY_BYTES:]:
            raise EntropyError(f"the source of randomness repeats itself, so it is broken; {_NO_NOISE}")
        return _Stream(bytearray(fresh[:_KEY_BYTES]), bytes(fresh[_KEY_BYTES : _KEY_BYTES + _COUNTER_BYTES]))


class SeededSource:
    """The same bits for the same seed: for tests and reproduction only, since anyone with the seed knows the noise.

    Parameters
    ----------
    seed : int
        Any integer of at least 0. A copy starts from the seed again.

    Examples
    --------
    >>> from ggdp import IntegerNoise
    >>> IntegerNoise(order=2, scale=5.0).sample(6, rng=SeededSource(seed=7))
    array([...])
    >>> SeededSource(seed=7).private
    False
    """

    __slots__ = ("_lock", "_stream", "seed")

    def __init__(self, *, seed: int) -> None:
        self.seed = _validate.integer(seed=seed, at_least=0)
        key = hashlib.sha256(b"ggdp seeded source %d" % self.seed).digest()
        self._stream = _Stream(bytearray(key), bytes(_COUNTER_BYTES))
        self._lock = threading.Lock()

    @property
    def private(self) -> bool:
        """Always False: a release from these bits carries no guarantee."""
        return False

    def __repr__(self) -> str:
        return f"SeededSource(seed={self.seed})"

    def __reduce__(self) -> tuple[Callable[[], SeededSource], tuple[()]]:
        return partial(SeededSource, seed=self.seed), ()

    def fill(self, buffer: NDArray[np.uint8]) -> int:
        """Overwrite the whole buffer with the next bytes of the seed's stream and return how many were written."""
        with self._lock:
            self._stream.write(buffer.data)
        return len(buffer)


SECURE = SecureSource()


def checked_source(rng: Source | None) -> Source:
    """Return the given source of random bits; by default that of the operating system."""
    if rng is None:
        return SECURE
    if isinstance(rng, type) or not callable(getattr(rng, "fill", None)):
        # It may be data: only its type is shown.
        expected = "must be a source of random bits, such as SeededSource(seed=1), or None"
        raise ArgumentTypeError("rng", type(rng).__name__, expected)
    return rng


def is_private(rng: Source) -> bool:
    """Return whether a release made from the bits of a source may carry a guarantee.

    Only the library says so, by the exact type of the source and the operating system's own function: a seeded source,
    a subclass or a custom source is never private, whatever its attributes say.
    """
    return type(rng) is SecureSource and rng._entropy is os.urandom


def takes_rng(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return a public function that takes `rng`, and with a warning also `source`, its name up to version 0.1."""

    @wraps(function)
    def call(*args: Arguments.args, **given: Arguments.kwargs) -> Result:
        if "source" in given:
            warnings.warn("`source` is now called `rng`: pass rng=...", DeprecationWarning, stacklevel=2)
            if "rng" in given:
                raise ArgumentError("source", "(given)", "is the old name of `rng`, which is given as well")
            given["rng"] = given.pop("source")
        return function(*args, **given)

    return call


def fill(buffer: NDArray[np.uint8], rng: Source) -> None:
    """Overwrite the whole buffer with random bytes; raise an `EntropyError` if the source fails or comes short."""
    try:
        written = rng.fill(buffer)
    except GgdpError:
        raise
    except Exception as error:
        raise EntropyError(f"the source of randomness failed ({type(error).__name__}: {error}); {_NO_NOISE}") from error
    if written != buffer.size:
        raise EntropyError(f"the source of randomness gave {written} bytes instead of {buffer.size}; {_NO_NOISE}")


def random_words(rng: Source, count: int) -> NDArray[np.uint64]:
    """Return uniform 64-bit words."""
    buffer = np.empty(8 * count, dtype=np.uint8)
    if count:
        fill(buffer, rng)
    return buffer.view(np.uint64)


def random_bits(rng: Source, count: int) -> int:
    """Return a uniform integer of `count` bits, a multiple of 8."""
    buffer = np.empty(count // 8, dtype=np.uint8)
    fill(buffer, rng)
    return int.from_bytes(buffer.tobytes(), "little")


def uniform_integers(total: int | Integers, size: int, rng: Source, *, word: int = 64) -> Integers:
    """Return independent uniform integers from 0 to total - 1, for a total, or one for each, of 1 to 2^63."""
    above = np.broadcast_to(np.asarray(total, dtype=np.uint64), (size,))
    largest = np.uint64((1 << word) - 1)
    # The last word before the remainder: 2^word modulo the total is (largest % total + 1) % total.
    last = largest - (largest % above + np.uint64(1)) % above
    drawn = np.empty(size, dtype=np.uint64)
    places = np.arange(size)
    while places.size:
        words = random_words(rng, places.size) >> np.uint64(64 - word)
        drawn[places] = words
        places = places[words > last[places]]
    return (drawn % above).astype(np.int64)


def distinct_integers(total: int, size: int, rng: Source, *, word: int = 64) -> Integers:
    """Return a set of `size` integers from 0 to total - 1, each as likely as any other, in increasing order."""
    if 2 * size > total:
        left = np.ones(total, dtype=np.bool_)
        left[distinct_integers(total, total - size, rng, word=word)] = False
        return np.flatnonzero(left)
    found = np.empty(0, dtype=np.int64)
    while found.size < size:
        new = np.sort(uniform_integers(total, size - found.size, rng, word=word))
        # Two sorted runs, which a stable sort merges.
        both = np.sort(np.concatenate((found, new)), kind="stable")
        found = both[np.append(True, both[1:] != both[:-1])]
    return found
