"""What must be checked before it is believed: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

FORGED = "tests/calibration/test_forged_certificates.py::"
BALLS = "tests/distributions/test_enclosures.py::"

SABOTAGES = [
    Sabotage(
        "the short cut of order 1 precedes the checks of a corner",
        "loss/corner.py",
        "    checked_corner(corner, support)\n    if order == 1.0",
        "    if order == 1.0",
        (f"{FORGED}test_the_short_cut_of_order_one_proves_nothing_of_a_corner_that_is_none",),
    ),
    Sabotage(
        "the precision of a certificate is not compared",
        "calibration/certificate.py",
        "if certificate.precision != found.precision:",
        "if False:",
        (f"{FORGED}test_a_record_with_a_wrong_field_is_refused",),
    ),
    Sabotage(
        "any arithmetic will do",
        "calibration/certificate.py",
        "    _require_arithmetic(certificate)\n    return rule",
        "    return rule",
        (f"{FORGED}test_a_record_with_a_wrong_field_is_refused",),
    ),
    Sabotage(
        "grid and truncation of a certificate are not compared",
        "calibration/certificate.py",
        "        if not same:\n",
        "        if False:\n",
        (f"{FORGED}test_a_record_with_a_wrong_field_is_refused",),
    ),
    Sabotage(
        "widths are cut to integers",
        "loss/bounded_vector.py",
        "if not _validate.positive(coordinates=size).is_integer():",
        "if False:",
        (f"{FORGED}test_widths_and_sizes_between_two_integers_are_not_cut_off",),
    ),
    Sabotage(
        "a parameter may be named twice in a certificate",
        "calibration/certificate.py",
        " or len(set(names)) != len(names)",
        "",
        (f"{FORGED}test_a_certificate_made_by_hand_is_checked_as_a_record_is",),
    ),
    Sabotage(
        "the lock on balls is written in Python",
        "distributions/enclosures.py",
        "BALLS = threading.RLock()",
        "BALLS = threading._PyRLock()",
        (f"{BALLS}test_an_interrupt_at_any_moment_neither_keeps_the_lock_nor_the_precision",),
    ),
    Sabotage(
        "the precision is set by a context manager written in Python",
        "distributions/enclosures.py",
        "working_precision = ctx.workprec\n",
        "import contextlib\n@contextlib.contextmanager\ndef working_precision(bits):\n"
        "    with ctx.workprec(bits):\n        yield\n",
        (f"{BALLS}test_an_interrupt_at_any_moment_neither_keeps_the_lock_nor_the_precision",),
    ),
    Sabotage(
        "a forked child frees a lock that it holds itself",
        "distributions/enclosures.py",
        "    if not BALLS._is_owned():  # type: ignore[attr-defined]\n        BALLS",
        "    if True:\n        BALLS",
        (f"{BALLS}test_a_child_forked_inside_a_block_leaves_it_as_its_parent_does",),
    ),
]
