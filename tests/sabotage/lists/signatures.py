"""Signatures and ``ggdp verify``: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

SIGNATURES = "tests/test_signatures.py::"
VERIFY = "tests/cli/test_verify.py::"

SABOTAGES = [
    Sabotage(
        "any signature fits any manifest",
        "signatures.py",
        "        Ed25519PublicKey.from_public_bytes(key).verify(signature, _message(content))\n",
        "        Ed25519PublicKey.from_public_bytes(key)\n",
        (
            f"{SIGNATURES}test_every_byte_of_a_manifest_is_signed",
            f"{VERIFY}test_every_command_refuses_a_manifest_that_was_changed_after_it_was_signed[command0]",
        ),
    ),
    Sabotage(
        "a signature is made without its namespace",
        "signatures.py",
        'map(_string, (NAMESPACE.encode(), b"", _HASH, hashlib.sha512(content).digest())))',
        'map(_string, (b"file", b"", _HASH, hashlib.sha512(content).digest())))',
        (f"{SIGNATURES}test_a_signature_is_the_one_of_the_specification",),
    ),
    Sabotage(
        "the namespace of a signature is not looked at",
        "signatures.py",
        "    if len(fields) > 1 and fields[1] != NAMESPACE.encode():\n",
        "    if False:\n",
        (f"{SIGNATURES}test_a_signature_of_something_else_is_refused",),
    ),
    Sabotage(
        "fields of a signature that are not signed may hold anything",
        "signatures.py",
        "    if blob != _blob(key, signature):\n",
        "    if False:\n",
        (f"{SIGNATURES}test_a_signature_of_something_else_is_refused",),
    ),
    Sabotage(
        "a signature by any key is the signer's",
        "signatures.py",
        "signer=signers is not None and key in signers)",
        "signer=signers is not None)",
        (
            f"{SIGNATURES}test_a_key_that_was_not_named_is_refused_with_its_fingerprint",
            f"{VERIFY}test_every_command_refuses_what_the_signer_has_not_signed[command0]",
        ),
    ),
    Sabotage(
        "a manifest without a signature passes for one of the signer",
        "signatures.py",
        '        if signers is not None:\n            raise ArgumentError(argument, name, f"is not signed',
        '        if False:\n            raise ArgumentError(argument, name, f"is not signed',
        (f"{SIGNATURES}test_no_signature_is_fine_unless_a_signer_is_named",),
    ),
    Sabotage(
        "keys of small order are accepted",
        "signatures.py",
        " or y in _SMALL_ORDER",
        "",
        (f"{SIGNATURES}test_a_key_of_small_order_or_in_a_second_encoding_is_refused",),
    ),
    Sabotage(
        "base64 may be written in several ways",
        "signatures.py",
        "    if not found or base64.b64encode(found) != text:\n",
        "    if not found:\n",
        (f"{SIGNATURES}test_padding_bits_of_base64_must_be_as_they_are_written",),
    ),
    Sabotage(
        "options that limit a signer are ignored",
        "signatures.py",
        "        if not understood or (place > 0 and",
        "        if place < 0 or (place > 0 and",
        (f"{SIGNATURES}test_a_file_of_keys_that_is_not_understood_is_refused",),
    ),
    Sabotage(
        "a private key that everybody can read is used",
        "_files.py",
        " and mode & 0o077:",
        " and mode & 0:",
        (
            f"{SIGNATURES}test_a_key_that_others_can_read_or_write_is_refused",
            f"{VERIFY}test_a_key_that_cannot_sign_is_refused_before_the_ledger_is_charged",
        ),
    ),
    Sabotage(
        "a pipe is read as if it were a file",
        "_files.py",
        "not (pipe and stat.S_ISFIFO(mode))",
        "not stat.S_ISFIFO(mode)",
        (f"{SIGNATURES}test_a_large_file_a_pipe_and_a_dangling_link_are_refused_without_waiting",),
    ),
    Sabotage(
        "the signature of a table that was replaced stays",
        "_files.py",
        "                target.unlink(missing_ok=True)\n    except",
        "                pass\n    except",
        (
            f"{SIGNATURES}test_a_release_that_is_not_signed_removes_the_signature_of_the_one_that_it_replaces",
            f"{VERIFY}test_the_demo_removes_a_signature_of_the_table_that_it_replaces",
        ),
    ),
    Sabotage(
        "a signature that is there already is replaced unasked",
        "tables/writing.py",
        "    require_free((*files, signature_file(files[-1])), ",
        "    require_free(files, ",
        (f"{SIGNATURES}test_a_signature_that_is_there_already_is_not_replaced_unasked",),
    ),
    Sabotage(
        "a key is read only when there is something to sign",
        "tables/table_plan.py",
        "        key = None if sign is None else signing_key(sign)\n",
        "        key = sign\n",
        (f"{SIGNATURES}test_a_key_that_cannot_sign_is_refused_before_the_ledger_is_charged_and_the_data_are_opened",),
    ),
    Sabotage(
        "a total ignores signatures",
        "composition/parts.py",
        "signature = checked_signature(one, content, signers)",
        "signature = None",
        (
            f"{SIGNATURES}test_totals_and_reports_require_signatures_by_the_signer[compose]",
            f"{SIGNATURES}test_totals_and_reports_refuse_a_signature_that_does_not_fit[compose]",
        ),
    ),
    Sabotage(
        "a manifest without its file passes for a signed one",
        "composition/parts.py",
        "        if signers is not None:\n",
        "        if False:\n",
        (f"{SIGNATURES}test_a_manifest_without_its_file_is_not_signed",),
    ),
    Sabotage(
        "a report does not say that a key is unknown",
        "reports/html_page.py",
        'unknown = "" if release.signature.signer else',
        'unknown = "" if True else',
        (f"{SIGNATURES}test_a_report_says_whether_the_key_is_known",),
    ),
    Sabotage(
        "verify passes files that were changed",
        "cli/verify.py",
        'if state == "changed"]',
        'if state == "lost"]',
        (f"{VERIFY}test_a_file_that_was_changed_fails_and_all_are_reported",),
    ),
    Sabotage(
        "verify succeeds in JSON whatever it finds",
        "cli/verify.py",
        "            raise typer.Exit(1)\n",
        "            pass\n",
        (f"{VERIFY}test_a_file_that_was_changed_fails_and_all_are_reported",),
    ),
    Sabotage(
        "verify believes a scale that its certificate is not about",
        "cli/verify.py",
        "            if document.get(name) != value:\n",
        "            if False:\n",
        (f"{VERIFY}test_certificates_are_proved_alone_and_in_calibrations",),
    ),
    Sabotage(
        "verify does not prove certificates",
        "cli/verify.py",
        "    require_proved(certificate)\n",
        "    pass\n",
        (f"{VERIFY}test_certificates_are_proved_alone_and_in_calibrations",),
    ),
    Sabotage(
        "parts that were added to a directory of Spark are not seen",
        "reports/published.py",
        "        if found.keys() != parts.keys() or",
        "        if not found.keys() >= parts.keys() or",
        ("tests/reports/test_published.py::test_a_directory_of_parts_is_compared_file_by_file",),
    ),
    Sabotage(
        "a changed table passes for a signed one",
        "reports/published.py",
        "    if signers is not None:\n        for table in",
        "    if signers is None:\n        for table in",
        (f"{VERIFY}test_with_a_signer_a_published_file_that_was_changed_is_refused",),
    ),
]
