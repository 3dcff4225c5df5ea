"""What must be checked before it is believed: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

FORGED = "tests/calibration/test_forged_certificates.py::"
BALLS = "tests/distributions/test_enclosures.py::"
SENSITIVITY = "tests/privacy/test_sensitivity.py::"
ADDITIVE = "tests/mechanisms/test_additive.py::"
EXTREME = "tests/calibration/test_extreme_arguments.py::"

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
        "joint = (_norm_order(joint=pair[0]), ",
        "joint = (float(pair[0]), ",
        (f"{SENSITIVITY}test_a_sensitivity_made_by_hand_cannot_contradict_itself",),
    ),
    Sabotage(
        "a mechanism believes every certificate",
        "calibration/record.py",
        "        self.require_own_certificate()\n        require_proved(self.certificate)",
        "        self.require_own_certificate()",
        (f"{ADDITIVE}test_a_calibration_that_was_changed_with_its_certificate_is_refused",),
    ),
    Sabotage(
        "every certificate is known already",
        "calibration/certificate.py",
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
        "            object.__setattr__(self, part.name, value)\n        self._seal()",
        "            object.__setattr__(self, part.name, value)",
        ("tests/releases/test_release.py::test_no_array_of_a_release_can_be_made_writable_also_not_in_a_copy",),
    ),
    Sabotage(
        "a plan may leave coordinates out",
        "loss/corner.py",
        "    _require_all(chosen, corner)\n    return",
        "    return",
        (f"{EXTREME}test_a_plan_that_leaves_coordinates_out_proves_nothing",),
    ),
    Sabotage(
        "blocks of coordinates are counted once",
        "loss/corner.py",
        "parts.append((coarsened(composed, 1 << size.halvings), size.copies))",
        "parts.append((coarsened(composed, 1 << size.halvings), 1))",
        (f"{EXTREME}test_a_million_coordinates_are_added_in_blocks_and_all_of_them_count",),
    ),
    Sabotage(
        "errors of floats go through",
        "calibration/record.py",
        "except (ArithmeticError, ValueError) as left:",
        "except ZeroDivisionError as left:",
        (f"{EXTREME}test_numbers_that_leave_the_floats_are_a_search_without_an_end",),
    ),
]
