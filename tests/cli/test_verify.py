"""``ggdp verify``, and signatures on the command line."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from tests.cli.people import BY_TOWN, release, written
from tests.command_lines import commands, run_line
from tests.test_signatures import OTHER, key_file, needs_ssh, private, public

import ggdp
from ggdp.cli.app import run

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(autouse=True)
def keys(here):
    """A private key and its public one; the files that `written` leaves out."""
    key_file(here / "key", private())
    (here / "key.pub").write_bytes(public())
    (here / "other.pub").write_bytes(public(OTHER))


def made():
    return [name for name in written() if name not in ("key", "key.pub", "other.pub")]


def verified(capsys, *words):
    code = run(["verify", *words, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["valid"] is (code == 0)
    return code, document["files"]


@pytest.fixture
def signed(here, capsys):
    assert release(*BY_TOWN, "--out", "out.csv", "--sign", "key") == 0
    capsys.readouterr()
    return here / "out.manifest.json"


def test_a_release_is_signed_and_names_the_signature(capsys):
    assert release(*BY_TOWN, "--out", "out.csv", "--sign", "key") == 0
    assert capsys.readouterr().out.rstrip().endswith("Written: out.csv, out.manifest.json, out.manifest.json.sig")
    assert made() == ["out.csv", "out.manifest.json", "out.manifest.json.sig"]
    assert release(*BY_TOWN, "--out", "out.csv", "--sign", "key", "--overwrite", "--json") == 0
    assert json.loads(capsys.readouterr().out)["files"][-1] == "out.manifest.json.sig"


def test_a_manifest_is_verified_with_its_files_and_its_signature(signed, capsys):
    assert run(["verify", str(signed), "--signer", "key.pub"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert lines[0] == f"{signed}: manifest"
    assert lines[1:3] == [
        "  1-DP under add-remove neighbours",
        "  certificate: epsilon <= 1.0, for noise of order 1.0 and scale 1.0; proved again",
    ]
    assert lines[3] == "  out.csv: unchanged"
    assert lines[4].startswith("  signature: valid, by the signer's key SHA256:")
    assert lines[5:] == ["1 file verified."]


def test_without_a_signer_a_signature_is_said_not_to_prove_who_signed(signed, capsys):
    for command in (["verify"], ["account"], ["report", "--out", "report.html"]):
        assert run([*command, str(signed)]) == 0
        assert "A signature by an unknown key does not prove who signed." in capsys.readouterr().out
    for command in (["verify"], ["account"], ["report", "--out", "report.html", "--overwrite"]):
        assert run([*command, str(signed), "--signer", "key.pub"]) == 0
        assert "unknown key" not in capsys.readouterr().out


@pytest.mark.parametrize("command", [["account"], ["report", "--out", "report.html"], ["verify"]])
def test_every_command_refuses_what_the_signer_has_not_signed(signed, command, capsys):
    assert run([*command, str(signed), "--signer", "other.pub"]) == 1
    said = capsys.readouterr()
    assert "which is not the signer's" in said.out + said.err
    assert str(signed) in said.out + said.err
    Path("out.manifest.json.sig").unlink()
    assert run([*command, str(signed), "--signer", "key.pub"]) == 1
    said = capsys.readouterr()
    assert "is not signed: 'out.manifest.json.sig' does not exist" in said.out + said.err
    assert not Path("report.html").exists()


@pytest.mark.parametrize("command", [["account"], ["report", "--out", "report.html"], ["verify"]])
def test_every_command_refuses_a_manifest_that_was_changed_after_it_was_signed(signed, command, capsys):
    # White space, which nothing else in the manifest forbids.
    signed.write_bytes(signed.read_bytes() + b"\n")
    assert run([*command, str(signed)]) == 1
    said = capsys.readouterr()
    assert "does not match its signature 'out.manifest.json.sig'" in said.out + said.err


@pytest.mark.parametrize("command", ["account", "report", "verify"])
def test_a_file_that_has_no_public_key_is_refused_with_its_flag(signed, command, capsys):
    flags = ["--out", "report.html"] if command == "report" else []
    assert run([command, str(signed), *flags, "--signer", "key"]) == 1
    assert capsys.readouterr().err.startswith("error: --signer = 'key': is a private key")


def test_a_file_that_was_changed_fails_and_all_are_reported(signed, capsys):
    assert release(*BY_TOWN, "--out", "other.csv") == 0
    Path("out.csv").write_text("town,count\n")
    capsys.readouterr()
    code, files = verified(capsys, str(signed), "other.manifest.json", "people.csv", "none.json")
    assert code == 1
    assert [one["error"] for one in files] == [
        "describes another version of 'out.csv': the digest differs",
        None,
        "is not a JSON file; name a manifest or a certificate of ggdp",
        "cannot be read (No such file or directory)",
    ]
    assert files[0]["published"] == {"out.csv": "changed"}
    assert run(["verify", str(signed), "other.manifest.json"]) == 1
    said = capsys.readouterr()
    assert "out.csv: CHANGED" in said.out
    assert "FAILED: describes another version of 'out.csv'" in said.out
    assert "other.csv: unchanged" in said.out
    assert said.err == "error: 1 of 2 files failed\n"


def test_a_file_that_is_elsewhere_is_said_not_to_be_checked(signed, capsys):
    Path("out.csv").unlink()
    assert run(["verify", str(signed)]) == 0
    assert "out.csv: not found next to the manifest, not checked" in capsys.readouterr().out


def test_certificates_are_proved_alone_and_in_calibrations(capsys):
    assert run(["calibrate", "--order", "3", "--epsilon", "1", "--delta", "1e-6", "--json"]) == 0
    calibration = json.loads(capsys.readouterr().out)
    Path("whole.json").write_text(json.dumps(calibration))
    Path("bare.json").write_text(json.dumps(calibration["certificate"]))
    code, files = verified(capsys, "whole.json", "bare.json")
    assert code == 0
    assert {one["kind"] for one in files} == {"certificate"}
    claim = "delta <= 1e-06 at epsilon 1.0, for noise of order 3.0 and scale 12.488448258318464; proved again"
    assert [one["proved"] for one in files] == [[claim], [claim]]
    forged = json.loads(json.dumps(calibration))
    forged["certificate"]["parameters"]["scale"] *= 0.99
    forged["scale"] *= 0.99
    Path("forged.json").write_text(json.dumps(forged))
    Path("moved.json").write_text(json.dumps(calibration | {"scale": 1.0}))
    Path("fields.json").write_text(json.dumps({"bound": 1}))
    code, files = verified(capsys, "forged.json", "moved.json", "fields.json", "bare.json")
    assert code == 1
    assert files[0]["error"].startswith("the claim delta <= 1e-06 does not hold")
    assert files[1]["error"] == "scale = 1.0: its certificate is about 12.488448258318464"
    assert files[2]["error"].startswith("this record is not a certificate of ggdp")
    assert files[3]["error"] is None


def test_a_manifest_that_promises_more_than_is_proved_fails(signed, capsys):
    manifest = json.loads(signed.read_bytes())
    Path("copy.manifest.json").write_text(json.dumps(manifest))
    manifest["guarantee"]["epsilon"] = 0.5
    Path("forged.manifest.json").write_text(json.dumps(manifest))
    code, (copy, forged) = verified(capsys, "copy.manifest.json", "forged.manifest.json")
    assert code == 1
    assert copy["error"] is None
    assert forged["error"] is not None
    assert (forged["kind"], forged["proved"]) == ("manifest", [])


@pytest.mark.parametrize("content", ["[" * 100_000, "{}", "[]", "3", "\ufeff", '{"schema": 3}', '{"certificate": []}'])
def test_files_of_something_else_fail_in_one_line(content, capsys):
    Path("odd.json").write_text(content, "utf-8")
    code, (one,) = verified(capsys, "odd.json")
    assert code == 1
    assert one["error"]


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no devices")
def test_a_device_is_not_read(capsys):
    code, (one,) = verified(capsys, "/dev/zero")
    assert code == 1
    assert one["error"] == "is a device; name a file"


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_a_key_that_cannot_sign_is_refused_before_the_ledger_is_charged(here, dry, capsys):
    ggdp.Ledger.create(here / "people.ledger", ggdp.PureDP(2.0))
    Path("key").chmod(0o644)
    assert release(*BY_TOWN, "--out", "out.csv", "--sign", "key", "--ledger", "people.ledger", *dry) == 1
    assert "error: --sign = 'key': can be read by other users; run: chmod 600 key" in capsys.readouterr().err
    assert len(list(ggdp.Ledger(here / "people.ledger").entries())) == 0
    assert made() == ["people.ledger"]


def test_a_passphrase_is_taken_from_the_environment_and_never_from_a_pipe(here, monkeypatch, capsys):
    secret = private(kind="PKCS8", secret=serialization.BestAvailableEncryption(b"swordfish"))
    key_file(here / "key", secret)
    monkeypatch.delenv("GGDP_SIGN_PASSPHRASE", raising=False)
    assert release(*BY_TOWN, "--out", "out.csv", "--sign", "key") == 1
    assert "--sign = 'key': has a passphrase; set the environment variable" in capsys.readouterr().err
    monkeypatch.setenv("GGDP_SIGN_PASSPHRASE", "swordfish")
    assert release(*BY_TOWN, "--out", "out.csv", "--sign", "key") == 0
    assert run(["verify", "out.manifest.json", "--signer", "key.pub"]) == 0
    assert "swordfish" not in capsys.readouterr().out


def test_at_a_terminal_the_passphrase_is_asked_for_without_showing_it(here, monkeypatch, capsys):
    secret = private(kind="PKCS8", secret=serialization.BestAvailableEncryption(b"swordfish"))
    key_file(here / "key", secret)
    monkeypatch.delenv("GGDP_SIGN_PASSPHRASE", raising=False)
    asked = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.prompt", lambda text, **how: asked.append((text, how)) or "swordfish")
    assert release(*BY_TOWN, "--out", "out.csv", "--sign", "key", "--json") == 0
    assert asked == [("Passphrase of the key", {"hide_input": True, "err": True})]
    assert json.loads(capsys.readouterr().out)["files"][-1] == "out.manifest.json.sig"


def test_the_demo_removes_a_signature_of_the_table_that_it_replaces():
    assert run(["demo", "--out", "demo"]) == 0
    Path("demo/czech.manifest.json.sig").write_text("of the first table")
    assert run(["demo", "--out", "demo", "--overwrite"]) == 0
    assert run(["verify", "demo/czech.manifest.json"]) == 0
    assert not Path("demo/czech.manifest.json.sig").exists()


@needs_ssh
def test_the_page_on_signing_works_as_it_stands(here):
    root = Path(__file__).parents[2]
    shutil.copytree(root / "docs" / "examples", here / "docs" / "examples")
    page = (root / "docs" / "how-to" / "sign-a-release.md").read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    walk = [line for block in blocks for line in commands(block)]
    assert len(walk) == 10
    for line in walk:
        if line.startswith("ggdp "):
            assert run_line(line)[0] == 0, line
        else:
            subprocess.run(["sh", "-c", line], check=True, capture_output=True)
    assert {"signed.manifest.json.sig", "later.manifest.json.sig", "signed.html"} <= set(written())


@pytest.mark.parametrize("command", ["account", "report", "verify"])
def test_with_a_signer_a_published_file_that_was_changed_is_refused(signed, command, capsys):
    (signed.parent / "out.csv").write_text("town,count,lower,upper\na,5000,4990,5010\n")
    out = ["--out", "page.html"] if command == "report" else []
    assert run([command, str(signed), "--signer", "key.pub", *out]) == 1
    said = capsys.readouterr()
    assert "is signed, but its file 'out.csv' was changed" in said.out + said.err


def test_a_published_file_that_is_not_there_is_counted_as_not_checked(signed, capsys):
    (signed.parent / "out.csv").unlink()
    assert run(["verify", str(signed)]) == 0
    assert (
        capsys.readouterr().out.splitlines()[-1] == "1 file verified; 1 published file was not found, and not checked."
    )


def test_a_range_is_verified_and_accounted_and_replaces_its_signature(here, capsys):
    (here / "numbers.csv").write_text("x\n" + "\n".join(map(str, range(500))))
    asked = ["range", "numbers.csv", "x", "--epsilon", "1", "--out", "range.json"]
    assert run(asked) == 0
    (here / "range.json.sig").write_text("of an earlier file")
    assert run([*asked, "--overwrite"]) == 0
    assert not (here / "range.json.sig").exists()
    assert run(["verify", "range.json"]) == 0
    assert run(["account", "range.json"]) == 0
    assert "1-DP" in capsys.readouterr().out
