"""What must be checked before it is believed: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

FORGED = "tests/proofs/test_forged_certificates.py::"
BALLS = "tests/proofs/test_enclosures.py::"
SENSITIVITY = "tests/privacy/test_sensitivity.py::"
ADDITIVE = "tests/mechanisms/test_additive.py::"
EXTREME = "tests/calibration/test_extreme_arguments.py::"

SABOTAGES = [
    Sabotage(
        "the short cut of order 1 precedes the checks of a corner",
        "proofs/corner.py",
        "        require_corner(self.corner)\n",
        "",
        (f"{FORGED}test_the_short_cut_of_order_one_proves_nothing_of_a_corner_that_is_none",),
    ),
    Sabotage(
        "the precision of a certificate is not compared",
        "proofs/certificate.py",
        "if used != bits:",
        "if False:",
        (f"{FORGED}test_the_short_cut_of_order_one_proves_nothing_of_a_corner_that_is_none",),
    ),
    Sabotage(
        "any arithmetic will do",
        "proofs/certificate.py",
        "    _require_arithmetic(certificate.arithmetic)\n",
        "",
        (f"{FORGED}test_a_record_with_a_wrong_field_is_refused",),
    ),
    Sabotage(
        "a certificate may have fields that its proof does not use",
        "proofs/certificate.py",
        "not isinstance(record, dict) or set(record) != _FIELDS",
        "not isinstance(record, dict) or not set(record) >= _FIELDS",
        (f"{FORGED}test_a_record_with_more_or_fewer_keys_is_refused",),
    ),
    Sabotage(
        "widths are cut to integers",
        "proofs/bounded_vector.py",
        "if not float(size).is_integer():",
        "if False:",
        (f"{FORGED}test_widths_and_sizes_between_two_integers_are_not_cut_off",),
    ),
    Sabotage(
        "a bound of somebody's own is believed",
        "proofs/certificate.py",
        'if type(bound) is not BOUNDS.get(getattr(bound, "name", ""))',
        'if getattr(bound, "name", "") not in BOUNDS',
        (f"{FORGED}test_a_certificate_made_by_hand_is_checked_as_a_record_is",),
    ),
    Sabotage(
        "the lock on balls is written in Python",
        "_balls.py",
        "BALLS = threading.RLock()",
        "BALLS = threading._PyRLock()",
        (f"{BALLS}test_an_interrupt_at_any_moment_neither_keeps_the_lock_nor_the_precision",),
    ),
    Sabotage(
        "the precision is set by a context manager written in Python",
        "_balls.py",
        "working_precision = ctx.workprec\n",
        "import contextlib\n@contextlib.contextmanager\ndef working_precision(bits):\n"
        "    with ctx.workprec(bits):\n        yield\n",
        (f"{BALLS}test_an_interrupt_at_any_moment_neither_keeps_the_lock_nor_the_precision",),
    ),
    Sabotage(
        "a forked child frees a lock that it holds itself",
        "_balls.py",
        "    if not BALLS._is_owned():  # type: ignore[attr-defined]\n        BALLS",
        "    if True:\n        BALLS",
        (f"{BALLS}test_a_child_forked_inside_a_block_leaves_it_as_its_parent_does",),
    ),
    Sabotage(
        "a box may have other coordinates than sizes",
        "privacy/sensitivity.py",
        'if kind == "box" and moving != len(sizes):',
        "if False:",
        (f"{SENSITIVITY}test_a_sensitivity_made_by_hand_cannot_contradict_itself",),
    ),
    Sabotage(
        "the order of a joint norm is not checked",
        "privacy/sensitivity.py",
        "joint = (norm_order(joint=pair[0]), ",
        "joint = (float(pair[0]), ",
        (f"{SENSITIVITY}test_a_sensitivity_made_by_hand_cannot_contradict_itself",),
    ),
    Sabotage(
        "a mechanism believes every certificate",
        "calibration/calibration.py",
        "        self.require_own_certificate()\n        require_proved(self.certificate)",
        "        self.require_own_certificate()",
        (f"{ADDITIVE}test_a_calibration_that_was_changed_with_its_certificate_is_refused",),
    ),
    Sabotage(
        "every certificate is known already",
        "proofs/certificate.py",
        "known = certificate in _PROVED",
        "known = True",
        (f"{ADDITIVE}test_a_calibration_that_was_changed_with_its_certificate_is_refused",),
    ),
    Sabotage(
        "a subclass of the secure source is private",
        "sampling/entropy.py",
        "return type(source) is SecureSource and",
        "return isinstance(source, SecureSource) and",
        (f"{ADDITIVE}test_no_source_vouches_for_itself",),
    ),
    Sabotage(
        "a source says itself whether it is private",
        "sampling/entropy.py",
        "return type(source) is SecureSource and source._entropy is os.urandom",
        'return source._entropy is os.urandom if type(source) is SecureSource else getattr(source, "private", False)',
        (f"{ADDITIVE}test_a_seeded_source_cannot_be_called_private",),
    ),
    Sabotage(
        "a copy of a release is not sealed",
        "releases/release.py",
        "    return charged_to(_with_guarantee(release, guarantee), entry)",
        "    for name, array in (('values', values), ('noisy', values if noisy is None else noisy)):\n"
        "        object.__setattr__(release, name, array)\n"
        "    return charged_to(_with_guarantee(release, guarantee), entry)",
        ("tests/releases/test_release.py::test_no_array_of_a_release_can_be_made_writable_also_not_in_a_copy",),
    ),
    Sabotage(
        "a layout may leave coordinates out",
        "proofs/corner.py",
        "        if self.layout is not None:\n            self._require_all(self.layout)\n",
        "",
        ("tests/proofs/test_corner.py::test_a_layout_with_fewer_grids_than_sizes_is_refused",),
    ),
    Sabotage(
        "coordinates of one size are counted once",
        "proofs/corner.py",
        "LaidLoss(CoordinateLoss(law, size), count, grid)",
        "LaidLoss(CoordinateLoss(law, size), 1, grid)",
        (f"{EXTREME}test_a_million_coordinates_are_added_and_all_of_them_count",),
    ),
    Sabotage(
        "errors of floats go through",
        "calibration/least_scale.py",
        "except (ArithmeticError, ValueError) as left:",
        "except ZeroDivisionError as left:",
        (f"{EXTREME}test_numbers_that_leave_the_floats_are_a_search_without_an_end",),
    ),
    Sabotage(
        "the tail above a window may be bounded with a negative tilt",
        "proofs/layouts.py",
        "        _validate.positive(tilt=self.tilt)\n",
        "",
        (f"{FORGED}test_an_absolute_sum_with_a_wrong_layout_is_refused",),
    ),
    Sabotage(
        "the sum of the paper may leave coordinates out",
        "proofs/absolute_sum.py",
        "        if self.layout is not None:\n            self._require_all(self.layout)\n",
        "",
        (f"{FORGED}test_an_absolute_sum_with_a_wrong_layout_is_refused",),
    ),
    Sabotage(
        "cells of the paper's sum are put on their lower ends",
        "proofs/absolute_sum.py",
        "shares = [arb(0.5 if halved else 1)] * len(masses)",
        "shares = [arb(0)] * len(masses)",
        ("tests/proofs/test_absolute_sum.py::test_orders_below_two_are_above_the_exact_probability_and_near_it",),
    ),
    Sabotage(
        "a proof needs a package of searches",
        "proofs/corner.py",
        "from ggdp.proofs.layouts import CornerLayout\n",
        "import ggdp.calibration.search\nfrom ggdp.proofs.layouts import CornerLayout\n",
        ("tests/proofs/test_kernel.py::test_certificates_are_verified_without_searches_and_without_numpy",),
    ),
    Sabotage(
        "a proof needs NumPy",
        "proofs/crossing.py",
        "import math\n",
        "import math\n\nimport numpy\n",
        ("tests/proofs/test_kernel.py::test_certificates_are_verified_without_searches_and_without_numpy",),
    ),
    Sabotage(
        "a certificate from the cache is believed",
        "calibration/calibration_cache.py",
        "        found.require_proof()\n",
        "",
        ("tests/calibration/test_calibration_cache.py::test_a_file_that_was_changed_is_not_believed[a smaller scale]",),
    ),
    Sabotage(
        "a norm is rounded down",
        "privacy/norms.py",
        "norm = upper_float(arb(largest) * terms ** (1 / arb(p)))",
        "norm = float(arb(largest) * terms ** (1 / arb(p))) * (1 - 2.0**-52)",
        (f"{SENSITIVITY}test_the_norm_of_cells_is_the_norm_of_m_equal_moves",),
    ),
]
