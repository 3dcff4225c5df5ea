"""Streams of random bits: the right cipher, never the same twice, and no noise when randomness fails.

Uniform integers and sets of them: all strings of bits of a small word, and large ones by their bounds.
"""

import copy
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import threading
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.noise.scripted import Scripted, top_bits, tree

import ggdp
from ggdp.errors import ArgumentError, EntropyError, GgdpError
from ggdp.noise import entropy as module
from ggdp.noise.entropy import (
    SECURE,
    SecureSource,
    SeededSource,
    distinct_integers,
    fill,
    random_bits,
    random_words,
    uniform_integers,
)

# NIST SP 800-38A, F.5.5 (CTR-AES256.Encrypt).
KEY = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
COUNTER = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
PLAIN = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
CIPHER = bytes.fromhex(
    "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
    "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
)
KEY_STREAM = bytes(p ^ c for p, c in zip(PLAIN, CIPHER, strict=True))


def first_bytes(source, size=32):
    buffer = np.zeros(size, dtype=np.uint8)
    fill(buffer, source)
    return buffer.tobytes()


def test_the_stream_is_aes_256_in_counter_mode_keyed_by_the_entropy():
    source = SecureSource(entropy=lambda size: (KEY + COUNTER + bytes(range(16)))[:size])
    assert first_bytes(source, 16) == KEY_STREAM[:16]
    assert first_bytes(source, 48) == KEY_STREAM[16:]


def test_the_memory_of_the_key_is_overwritten_and_the_stream_goes_on():
    key = bytearray(KEY)
    stream = module._Stream(key, COUNTER)
    assert key == bytes(32)
    buffer = bytearray(64)
    stream.write(memoryview(buffer))
    assert buffer == KEY_STREAM


def test_a_stream_is_keyed_anew_after_its_share_of_bytes(monkeypatch):
    monkeypatch.setattr(module, "_REKEY_BYTES", 100)
    asked = []

    def entropy(size):
        asked.append(size)
        return os.urandom(size)

    first_bytes(SecureSource(entropy=entropy), 1000)
    assert asked == [64] * 10


def test_a_stream_is_keyed_anew_every_64_mebibytes():
    asked = []

    def entropy(size):
        asked.append(size)
        return os.urandom(size)

    source = SecureSource(entropy=entropy)
    first_bytes(source, 64 << 20)
    assert len(asked) == 1
    first_bytes(source, 1)
    assert len(asked) == 2


def test_a_draw_inside_another_does_not_hang_the_stream():
    """As from a signal handler that runs just before a stream is used up."""
    source = SecureSource()
    first_bytes(source)
    source._streams.current.left = -720
    assert first_bytes(source) != bytes(32)


def test_only_the_operating_systems_randomness_is_private():
    assert SecureSource().private
    source = SecureSource(entropy=random.Random(1).randbytes)
    assert not source.private
    calibration = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer")
    assert ggdp.Mechanism(calibration).release([5, 5], rng=source).guarantee is None


def test_a_key_is_used_for_the_same_stream_whatever_the_pieces(monkeypatch):
    monkeypatch.setattr(module, "_REKEY_BYTES", 40)
    seeds = [bytes([i]) * 32 + bytes(range(32)) for i in range(8)]

    def scripted():
        left = list(seeds)
        return SecureSource(entropy=lambda _: left.pop(0))

    whole = first_bytes(scripted(), 200)
    pieces = scripted()
    assert b"".join(first_bytes(pieces, size) for size in (1, 39, 41, 7, 112)) == whole


def test_a_seed_gives_the_same_bits_and_says_that_they_are_not_private():
    one, two, other = SeededSource(seed=3), SeededSource(seed=3), SeededSource(seed=4)
    assert first_bytes(one, 100) == first_bytes(two, 100) != first_bytes(other, 100)
    assert first_bytes(one) != first_bytes(SeededSource(seed=3))
    assert not one.private
    assert SECURE.private
    assert repr(one) == "SeededSource(seed=3)"


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None, True])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(ArgumentError, match="seed ="):
        SeededSource(seed=seed)


def test_words_and_bits_are_uniform_integers():
    words = random_words(SECURE, 4000)
    assert words.dtype == np.uint64
    ones = sum(int(word).bit_count() for word in words)
    # 256,000 fair bits are within 4,000 of half, but for a probability below 1e-50.
    assert abs(ones - 128_000) < 4000
    assert random_words(SECURE, 0).size == 0
    assert 0 <= random_bits(SECURE, 8) < 256


def test_threads_have_streams_of_their_own():
    found, gate = [], threading.Barrier(8)

    def draw():
        gate.wait()
        found.extend(first_bytes(SECURE) for _ in range(50))

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 400


def test_every_thread_keys_a_stream_of_its_own():
    keyed = []

    def entropy(size):
        keyed.append(threading.get_ident())
        return os.urandom(size)

    source, gate = SecureSource(entropy=entropy), threading.Barrier(4)

    def draw():
        gate.wait()
        for _ in range(3):
            first_bytes(source)
        gate.wait()

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keyed) == len(set(keyed)) == 4


def test_a_thread_started_later_does_not_go_on_with_a_dead_one():
    found = []
    for _ in range(20):
        thread = threading.Thread(target=lambda: found.append(first_bytes(SECURE)))
        thread.start()
        thread.join()
    assert len(set(found)) == 20


def forks(test):
    """Mark a test that forks, which newer Pythons warn of when other threads run."""
    warns = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
    return warns(pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")(test))


def bytes_of_a_fork(in_child=lambda: None):
    """Fork by hand and return what parent and child draw next."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        in_child()
        os.write(write, first_bytes(SECURE) + ggdp.IntegerNoise(order=2, scale=1e6).sample(4).tobytes())
        os._exit(0)
    own = first_bytes(SECURE) + ggdp.IntegerNoise(order=2, scale=1e6).sample(4).tobytes()
    other = os.read(read, 64)
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)
    assert len(other) == 64
    return own, other


@forks
def test_a_forked_child_never_repeats_its_parent():
    first_bytes(SECURE)
    found = [part for _ in range(5) for both in bytes_of_a_fork() for part in (both[:32], both[32:])]
    assert len(set(found)) == 20


@forks
@pytest.mark.parametrize("blind", ["_forks", "getpid"])
def test_a_fork_is_seen_in_two_ways_each_of_which_is_enough(monkeypatch, blind):
    """A grandchild may have a dead ancestor's number; a fork made outside Python runs no hook."""
    forks = module._forks
    if blind == "getpid":
        monkeypatch.setattr(module.os, "getpid", lambda: 4711)
    first_bytes(SECURE)
    # In the child, as if no hook had run.
    own, other = bytes_of_a_fork(lambda: setattr(module, "_forks", forks) if blind == "_forks" else None)
    assert own != other


@forks
def test_the_fork_test_notices_a_source_that_repeats(monkeypatch):
    monkeypatch.setattr(module, "_this_process", lambda: (1, 1))
    SECURE._streams.current = None
    first_bytes(SECURE)
    own, other = bytes_of_a_fork()
    SECURE._streams.current = None
    assert own == other


def drawn_in_a_child(queue):
    queue.put(first_bytes(SECURE))


def test_spawned_processes_have_streams_of_their_own():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    children = [context.Process(target=drawn_in_a_child, args=(queue,)) for _ in range(2)]
    for child in children:
        child.start()
    found = {queue.get(timeout=60) for _ in children} | {first_bytes(SECURE)}
    for child in children:
        child.join()
    assert len(found) == 3


def test_copies_of_a_source_have_streams_of_their_own():
    source = SecureSource()
    first_bytes(source)
    found = {first_bytes(one) for one in (source, copy.copy(source), copy.deepcopy(source))}
    found.add(first_bytes(pickle.loads(pickle.dumps(source))))
    assert len(found) == 4


def test_a_copy_of_a_seeded_source_starts_from_the_seed_again():
    source = SeededSource(seed=8)
    start = first_bytes(source)
    assert first_bytes(pickle.loads(pickle.dumps(source))) == first_bytes(copy.deepcopy(source)) == start


def test_the_same_script_run_twice_draws_other_noise():
    code = "import ggdp; print(ggdp.IntegerNoise(order=1, scale=1e9).sample(4))"
    runs = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(runs) == 2


def failing(_):
    raise OSError("no entropy pool")


@pytest.mark.parametrize(
    ("entropy", "message"),
    [
        (failing, r"the source of randomness failed \(OSError: no entropy pool\); no noise was drawn"),
        (lambda _: b"", "gave 0 bytes instead of 64"),
        (lambda size: os.urandom(size - 1), "gave 63 bytes instead of 64"),
        (bytes, "repeats itself, so it is broken; no noise was drawn"),
    ],
)
def test_entropy_that_fails_or_comes_short_is_an_error_and_no_noise(entropy, message):
    source = SecureSource(entropy=entropy)
    for draw in (
        lambda: ggdp.IntegerNoise(order=2, scale=3.0).sample(5, rng=source),
        lambda: ggdp.IntegerNoise(order=2, scale=1e9).sample(5, rng=source),
        lambda: ggdp.IntegerNoise(order=2, scale=3.0).sample(5_000_000, rng=source),
    ):
        with pytest.raises(EntropyError, match=message):
            draw()
    assert issubclass(EntropyError, GgdpError)


def test_entropy_that_gives_the_same_twice_is_an_error():
    source = SecureSource(entropy=lambda size: bytes(range(size)))
    first_bytes(source)
    source._streams.current = None
    with pytest.raises(EntropyError, match="repeats itself"):
        first_bytes(source)


class Short:
    private = True

    def fill(self, buffer):
        buffer[:-1] = 7
        return buffer.size - 1


class Broken:
    private = True

    def __init__(self, good_calls):
        self.left = good_calls

    def fill(self, buffer):
        if self.left == 0:
            raise RuntimeError("unplugged")
        self.left -= 1
        return SECURE.fill(buffer)


def test_a_source_of_ones_own_that_comes_short_is_an_error():
    with pytest.raises(EntropyError, match="gave 39 bytes instead of 40; no noise was drawn"):
        ggdp.IntegerNoise(order=2, scale=3.0).sample(5, rng=Short())


@pytest.mark.parametrize("scale", [3.0, 1e9])
def test_a_source_that_breaks_down_half_way_leaves_no_noise(scale):
    with pytest.raises(EntropyError, match="RuntimeError: unplugged"):
        ggdp.IntegerNoise(order=2, scale=scale).sample(200_000, rng=Broken(2))


def requests(bits, most):
    """All strings of up to so many words that a sampler with words of so many bits tells apart."""
    single = top_bits(8, bits)
    return {8 * n: [b"".join(words) for words in product(single, repeat=n)] for n in range(1, most + 1)}


@pytest.mark.parametrize("total", [1, 2, 3, 5, 7, 8])
def test_all_integers_are_equally_likely_and_independent(total):
    masses, longer = tree(
        lambda source: tuple(uniform_integers(total, 2, source, word=3).tolist()), requests(3, 2), depth=2
    )
    assert len(masses) == total**2
    # Those drawn again are still undecided after two rounds; what is decided is even.
    assert len(set(masses.values())) == 1
    assert sum(masses.values()) + longer == 1
    assert (longer == 0) == (8 % total == 0)


@pytest.mark.parametrize(("total", "size"), [(4, 2), (5, 2), (4, 3), (4, 1), (6, 2), (3, 0), (5, 5), (8, 3), (6, 4)])
def test_all_sets_are_equally_likely(total, size):
    masses, longer = tree(
        lambda source: tuple(distinct_integers(total, size, source, word=3).tolist()), requests(3, 3), depth=3
    )
    assert set(masses) == set(combinations(range(total), size))
    assert len(set(masses.values())) == 1
    assert sum(masses.values()) + longer == 1
    assert longer < Fraction(1, 2)
    assert len(masses) == comb(total, size)


def test_remainders_of_all_words_would_be_uneven():
    """A control: this is what drawing again is for."""
    assert len(set(Counter(word % 3 for word in range(8)).values())) > 1


def test_words_beyond_the_last_multiple_are_drawn_again():
    top = (1 << 64) // 10**18 * 10**18
    source = Scripted.words(top, top - 1)
    assert uniform_integers(10**18, 1, source).tolist() == [10**18 - 1]
    assert source.spent
    for total in (1, 2, 2**32, 2**63):
        assert uniform_integers(total, 1, Scripted.words(2**64 - 1)).tolist() == [total - 1]


@given(st.integers(1, 10**18), st.integers(0, 200), st.integers(0, 2**32))
@settings(deadline=None, max_examples=examples(20, 60))
def test_sets_are_sorted_distinct_and_within(total, size, seed):
    size = min(size, total)
    found = distinct_integers(total, size, SeededSource(seed=seed))
    assert found.dtype == np.int64
    assert found.size == size
    assert np.all(np.diff(found) > 0)
    assert size == 0 or (found[0] >= 0 and found[-1] < total)


@pytest.mark.parametrize("size", [0, 1, 499_999, 500_000, 500_001, 999_999, 1_000_000])
def test_any_share_of_a_million_can_be_drawn(size):
    found = distinct_integers(1_000_000, size, SECURE)
    assert found.size == size
    assert np.all(np.diff(found) > 0)
