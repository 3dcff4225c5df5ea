"""Signatures of manifests: what is signed, which files and keys are accepted, and that OpenSSH agrees."""

import base64
import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import stat
import subprocess

import pyarrow as pa
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import ggdp
from ggdp import signatures
from ggdp.errors import ArgumentError
from ggdp.signatures import checked_signature, read_signers, sign, signature_file, signing_key
from ggdp.tables import output_files

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
PLAIN = serialization.NoEncryption()
RAW = KEY.public_key().public_bytes_raw()
CONTENT = b'{"ggdp": "a manifest"}\n'
needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
needs_posix = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")


def private(key=KEY, kind="OpenSSH", secret=PLAIN):
    return key.private_bytes(serialization.Encoding.PEM, getattr(serialization.PrivateFormat, kind), secret)


def public(key=KEY):
    encoding, kind = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    return key.public_key().public_bytes(encoding, kind)


def key_file(path, content, mode=0o600):
    path.write_bytes(content)
    path.chmod(mode)
    return path


def armored(blob):
    text = base64.b64encode(blob)
    return b"-----BEGIN SSH SIGNATURE-----\n" + text + b"\n-----END SSH SIGNATURE-----\n"


def string(value):
    return len(value).to_bytes(4, "big") + value


def sshsig(content=CONTENT, namespace=b"ggdp-manifest", reserved=b"", algorithm=b"sha512", **odd):
    """A signature built here by the specification (PROTOCOL.sshsig), with whatever is wrong in it."""
    digest = hashlib.new(algorithm.decode(), content).digest()
    signature = KEY.sign(b"SSHSIG" + b"".join(map(string, [namespace, reserved, algorithm, digest])))
    key = string(odd.get("kind", b"ssh-ed25519")) + string(odd.get("key", RAW))
    fields = [key, namespace, reserved, algorithm, string(b"ssh-ed25519") + string(signature)]
    opening = odd.get("magic", b"SSHSIG") + odd.get("version", 1).to_bytes(4, "big")
    return opening + b"".join(map(string, fields)) + odd.get("rest", b"")


@pytest.fixture
def manifest(tmp_path):
    file = tmp_path / "t.manifest.json"
    file.write_bytes(CONTENT)
    return file


def check(manifest, signature=None, signers=None):
    if signature is not None:
        signature_file(manifest).write_bytes(signature)
    return checked_signature(manifest, manifest.read_bytes(), signers)


def refusal(manifest, signature=None, signers=None):
    with pytest.raises(ArgumentError) as refused:
        check(manifest, signature, signers)
    assert refused.value.value == str(manifest)
    return refused.value.expected


# What is accepted


def test_a_signature_is_the_one_of_the_specification():
    assert base64.b64decode(b"".join(sign(CONTENT, KEY).split(b"\n")[1:-2])) == sshsig()


def test_a_signature_by_a_named_key_says_so_and_one_by_another_key_does_not(manifest):
    found = check(manifest, sign(CONTENT, KEY))
    assert not found.signer
    assert "unknown key" in str(found)
    found = check(manifest, signers=frozenset({RAW, b"?" * 32}))
    assert found.signer
    assert str(found) == f"valid, by the signer's key {found.key}"


def test_no_signature_is_fine_unless_a_signer_is_named(manifest):
    assert check(manifest) is None
    assert refusal(manifest, signers=frozenset({RAW})) == "is not signed: 't.manifest.json.sig' does not exist"


@needs_ssh
def test_ssh_keygen_accepts_our_signatures_and_shows_the_same_fingerprint(manifest, tmp_path):
    (tmp_path / "allowed").write_bytes(b"office " + public() + b"\n")
    found = check(manifest, sign(CONTENT, KEY))
    command = ["ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", "office", "-n", "ggdp-manifest", "-s"]
    command.append(signature_file(manifest).name)
    run = subprocess.run(command, cwd=tmp_path, input=CONTENT, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    assert found.key in run.stdout.decode()
    run = subprocess.run(command, cwd=tmp_path, input=CONTENT + b" ", capture_output=True, check=False)
    assert run.returncode != 0


@needs_ssh
def test_we_accept_signatures_of_ssh_keygen_and_its_keys(manifest, tmp_path):
    made = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", made], check=True)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", "ggdp-manifest", "-f", made, manifest]
    subprocess.run(command, check=True, capture_output=True)
    signers = read_signers(made.with_suffix(".pub"))
    assert check(manifest, signers=signers).signer
    # Ed25519 has one signature of a message: ours is the same file.
    assert signature_file(manifest).read_bytes() == sign(CONTENT, signing_key(made))


# What is refused


@pytest.mark.parametrize(
    ("signature", "why"),
    [
        (sshsig(content=CONTENT + b" "), "does not match its signature"),
        (sshsig(namespace=b"file"), "its namespace is 'file', not 'ggdp-manifest'"),
        (sshsig(namespace=b""), "its namespace is ''"),
        (sshsig(algorithm=b"sha256"), "not a signature by an Ed25519 key with SHA-512"),
        (sshsig(reserved=b"?"), "not a signature by an Ed25519 key"),
        (sshsig(key=OTHER.public_key().public_bytes_raw()), "does not match its signature"),
        (sshsig(kind=b"ssh-rsa"), "another kind, 'ssh-rsa'"),
        (sshsig(kind=b"\x1b[31m" + b"x" * 900), "another kind"),
        (sshsig(version=2), "has no valid signature"),
        (sshsig(magic=b"SSHSIH"), "has no valid signature"),
        (sshsig(rest=b"\0"), "has no valid signature"),
        (sshsig(rest=string(b"more")), "has no valid signature"),
        (sshsig()[:-1], "is damaged"),
        (sshsig()[:10], "has no valid signature"),
        (b"SSHSIG", "has no valid signature"),
    ],
)
def test_a_signature_of_something_else_is_refused(manifest, signature, why):
    said = refusal(manifest, armored(signature))
    assert why in said
    assert said.isprintable()


def test_the_control_is_accepted(manifest):
    assert check(manifest, armored(sshsig())) is not None


@pytest.mark.parametrize("text", [b"", b"\n", b"no signature", sign(CONTENT, KEY)[:-30], sign(CONTENT, KEY) * 2])
def test_a_file_that_is_no_signature_is_refused(manifest, text):
    assert "has no valid signature: 't.manifest.json.sig' is " in refusal(manifest, text)


def test_every_change_of_a_byte_is_refused_or_leaves_key_and_signature_as_they_were(manifest):
    whole = sign(CONTENT, KEY)
    was = signatures._parse_signature(whole)
    same, other = set(), []
    for place in range(len(whole)):
        for byte in range(256):
            changed = whole[:place] + bytes([byte]) + whole[place + 1 :]
            with contextlib.suppress(ValueError):
                if signatures._parse_signature(changed) == was:
                    same.add((whole[place], byte))
                else:
                    other.append(changed)
    # One kind of white space for another, and no change at all.
    assert {(old, new) for old, new in same if old != new} == {(10, new) for new in b" \t\r\x0b\x0c"}
    # What is parsed as another key or another signature does not fit.
    assert len(other) > 5_000
    for changed in other[::97]:
        assert "does not match its signature" in refusal(manifest, changed)


@pytest.mark.parametrize("cut", range(0, 300, 7))
def test_a_truncated_file_is_refused(manifest, cut):
    whole = sign(CONTENT, KEY).rstrip()
    assert refusal(manifest, whole[: min(cut, len(whole) - 1)])


def test_lines_may_end_as_they_do_elsewhere_but_the_manifest_may_not_change(manifest):
    assert check(manifest, sign(CONTENT, KEY).replace(b"\n", b"\r\n")) is not None
    manifest.write_bytes(CONTENT.replace(b"\n", b"\r\n"))
    assert "was changed after it was signed" in refusal(manifest)


def test_padding_bits_of_base64_must_be_as_they_are_written():
    assert base64.b64decode("QQ==", validate=True) == base64.b64decode("QR==", validate=True)
    assert signatures._decode(b"QQ==") == b"A"
    with pytest.raises(ValueError, match="base64"):
        signatures._decode(b"QR==")


def test_every_byte_of_a_manifest_is_signed(manifest):
    check(manifest, sign(CONTENT, KEY))
    for place in range(len(CONTENT)):
        changed = CONTENT[:place] + bytes([CONTENT[place] ^ 1 << place % 8]) + CONTENT[place + 1 :]
        manifest.write_bytes(changed)
        assert refusal(manifest).startswith("does not match its signature")


def test_a_key_that_was_not_named_is_refused_with_its_fingerprint(manifest):
    theirs = check(manifest, sign(CONTENT, OTHER)).key
    said = refusal(manifest, signers=frozenset({RAW}))
    assert said == f"is signed by the key {theirs}, which is not the signer's"


def test_a_large_file_a_pipe_and_a_dangling_link_are_refused_without_waiting(manifest):
    file = signature_file(manifest)
    assert "is too large; at most 8,192 bytes" in refusal(manifest, sign(CONTENT, KEY) + b"\n" * 10_000)
    file.unlink()
    file.symlink_to("nowhere")
    assert "cannot be read" in refusal(manifest)
    file.unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(file)
        assert "is a pipe; name a file" in refusal(manifest)
        file.unlink()
    file.mkdir()
    assert "t.manifest.json.sig" in refusal(manifest)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no devices")
def test_a_device_is_refused(manifest):
    signature_file(manifest).symlink_to("/dev/zero")
    assert "is a device" in refusal(manifest)


# Keys of small order


def multiple_of_eight(y, sign):
    """Return 8 P for the point of Edwards25519 with this y, by textbook formulas; None if there is no such point."""
    prime = 2**255 - 19
    d = -121665 * pow(121666, -1, prime) % prime
    square = (y * y - 1) * pow(d * y * y + 1, -1, prime) % prime
    x = pow(square, (prime + 3) // 8, prime)
    if (x * x - square) % prime:
        x = x * pow(2, (prime - 1) // 4, prime) % prime
    if (x * x - square) % prime:
        return None
    x = -x % prime if x % 2 != sign else x
    for _ in range(3):
        product = d * x * x * y * y % prime
        x, y = (
            2 * x * y * pow(1 + product, -1, prime) % prime,
            (y * y + x * x) * pow(1 - product, -1, prime) % prime,
        )
    return x, y


def test_keys_of_small_order_are_those_of_the_curve():
    prime = 2**255 - 19
    points = {(y, sign) for y in signatures._SMALL_ORDER for sign in (0, 1)}
    assert {multiple_of_eight(y, sign) for y, sign in points} == {(0, 1)}
    # There are eight: y = 1 and y = -1 have one point each, the other three two.
    assert len(signatures._SMALL_ORDER) == 5
    base = 4 * pow(5, -1, prime) % prime
    assert multiple_of_eight(base, 0) != (0, 1)


@pytest.mark.parametrize("y", [*sorted(signatures._SMALL_ORDER), 2**255 - 19, 2**255 - 18])
@pytest.mark.parametrize("sign", [0, 1])
def test_a_key_of_small_order_or_in_a_second_encoding_is_refused(manifest, tmp_path, y, sign):
    key = (y + (sign << 255)).to_bytes(32, "little")
    forged = signatures._blob(key, (1).to_bytes(32, "little") + bytes(32))
    assert "is not secure" in refusal(manifest, armored(forged))
    (tmp_path / "weak.pub").write_bytes(b"ssh-ed25519 " + base64.b64encode(string(b"ssh-ed25519") + string(key)))
    with pytest.raises(ArgumentError, match="is not secure"):
        read_signers(tmp_path / "weak.pub")


def test_a_second_form_of_a_signature_is_refused(manifest):
    order = 2**252 + 27742317777372353535851937790883648493
    key, signature = signatures._parse_signature(sign(CONTENT, KEY))
    larger = int.from_bytes(signature[32:], "little") + order
    malleable = signature[:32] + larger.to_bytes(32, "little")
    assert "does not match" in refusal(manifest, armored(signatures._blob(key, malleable)))


# Private keys


@pytest.mark.parametrize("kind", ["OpenSSH", "PKCS8"])
def test_keys_of_openssh_and_pem_are_read(tmp_path, kind):
    file = key_file(tmp_path / "key", private(kind=kind))
    assert signing_key(file).private_bytes_raw() == KEY.private_bytes_raw()
    assert signing_key(str(file)).private_bytes_raw() == KEY.private_bytes_raw()
    assert signing_key(KEY) is KEY


def refused_key(file, ask=None):
    with pytest.raises(ArgumentError) as refused:
        signing_key(file, ask)
    assert refused.value.argument == "sign"
    return refused.value.expected


@needs_posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_key_that_others_can_read_or_write_is_refused(tmp_path, mode):
    file = key_file(tmp_path / "key", private(), mode)
    assert refused_key(file) == f"can be read by other users; run: chmod 600 {file}"


def test_what_is_no_ed25519_key_is_refused(tmp_path):
    elliptic = private(ec.generate_private_key(ec.SECP256R1()))
    assert "is not an Ed25519 key" in refused_key(key_file(tmp_path / "ec", elliptic))
    assert "is not a private key" in refused_key(key_file(tmp_path / "pub", public()))
    assert "is not a private key" in refused_key(key_file(tmp_path / "cut", private()[:200]))
    assert "is not a private key" in refused_key(key_file(tmp_path / "none", b""))
    assert "is too large" in refused_key(key_file(tmp_path / "large", private() + b"\n" * 20_000))
    assert "cannot be read" in refused_key(tmp_path / "absent")
    assert refused_key(tmp_path)
    with pytest.raises(TypeError):
        signing_key(3)


def test_a_passphrase_comes_from_the_environment_or_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.delenv("GGDP_SIGN_PASSPHRASE", raising=False)
    secret = private(kind="PKCS8", secret=serialization.BestAvailableEncryption(b"swordfish"))
    file = key_file(tmp_path / "key", secret)
    assert "set the environment variable GGDP_SIGN_PASSPHRASE" in refused_key(file)
    assert signing_key(file, lambda: "swordfish").private_bytes_raw() == KEY.private_bytes_raw()
    assert refused_key(file, lambda: "sword") == "wrong passphrase"
    assert "has a passphrase" in refused_key(file, lambda: "")
    monkeypatch.setenv("GGDP_SIGN_PASSPHRASE", "swordfish")
    assert signing_key(file).private_bytes_raw() == KEY.private_bytes_raw()
    plain = key_file(tmp_path / "plain", private())
    assert signing_key(plain).private_bytes_raw() == KEY.private_bytes_raw()


@needs_ssh
@pytest.mark.skipif(importlib.util.find_spec("bcrypt") is not None, reason="bcrypt is installed")
def test_without_bcrypt_an_openssh_key_with_a_passphrase_leads_to_ssh_keygen(tmp_path, monkeypatch):
    monkeypatch.setenv("GGDP_SIGN_PASSPHRASE", "swordfish")
    made = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "swordfish", "-f", made], check=True)
    assert "ssh-keygen -Y sign -n ggdp-manifest -f KEY MANIFEST" in refused_key(made)


# Public keys

LIMITED = b'office namespaces="file,ggdp-manifest" ' + public() + b" a comment"


@pytest.mark.parametrize(
    "text",
    [
        public(),
        public() + b" us@office\r\n",
        b"# ours\n\noffice " + public() + b" \xc3\x85\n",
        LIMITED,
        public(OTHER) + b"\n" + public(),
        b"old ssh-rsa AAAAB3NzaC1yc2E= old\n" + public(),
        KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
    ],
)
def test_public_keys_are_read_from_files_of_openssh_and_pem(tmp_path, text):
    (tmp_path / "keys").write_bytes(text)
    found = read_signers(tmp_path / "keys")
    assert RAW in found
    assert found <= {RAW, OTHER.public_key().public_bytes_raw()}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "has no Ed25519 public key"),
        (b"ssh-rsa AAAAB3NzaC1yc2E=", "has no Ed25519 public key"),
        (b"office", "line 1 is not a public key"),
        (public() + b"\nssh-ed25519", "line 2 is not a public key"),
        (public()[:-4], "is not base64|line 1 is not"),
        (b"ssh-ed25519 AAAA" + base64.b64encode(RAW), "is not base64|line 1 is not"),
        (b'office valid-before="20200101" ' + public(), "line 1 has an option"),
        (b"office cert-authority " + public(), "line 1 has an option"),
        (b'valid-before="20200101" ' + public(), "line 1 has an option"),
        (b"cert-authority " + public(), "line 1 has an option"),
        (b"@revoked " + public(), "line 1 has an option"),
        (LIMITED.replace(b"file,", b"!ggdp-manifest,"), "line 1 has an option"),
        (LIMITED.replace(b",ggdp-manifest", b""), "line 1 has an option"),
        (private(), "is a private key; name the public key"),
        (private(kind="PKCS8"), "is a private key; name the public key"),
        (b"-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n", "is not a public key"),
        (b"#" * (1 << 21), "is too large"),
    ],
)
def test_a_file_of_keys_that_is_not_understood_is_refused(tmp_path, text, why):
    (tmp_path / "keys").write_bytes(text)
    with pytest.raises(ArgumentError, match=why) as refused:
        read_signers(tmp_path / "keys")
    assert refused.value.argument == "signer"


# Releases

PEOPLE = pa.table({"smokes": ["no", "yes", "no"], "sex": ["f", "m", "f"]})
TABLE = {"by": "smokes", "goal": ggdp.PureDP(1.0), "domain": {"smokes": ["no", "yes"], "sex": ["f", "m"]}}


def names(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize("by", ["smokes", [["smokes"], ["sex"]]])
def test_a_release_is_signed_and_its_signature_fits_the_manifest(tmp_path, name, by):
    release = ggdp.release_table(PEOPLE, **TABLE | {"by": by}, out=tmp_path / name, sign=KEY)
    manifest = tmp_path / "t.manifest.json"
    assert check(manifest, signers=frozenset({RAW})).signer
    files = release.write(tmp_path / f"again{name}", sign=KEY)
    assert files[-1].name == "againt.manifest.json.sig"
    assert check(files[-2], signers=frozenset({RAW})).signer
    assert stat.S_IMODE(files[-1].stat().st_mode) == stat.S_IMODE(files[-2].stat().st_mode)


def test_a_release_that_is_not_signed_removes_the_signature_of_the_one_that_it_replaces(tmp_path):
    for write in (
        lambda **sign: ggdp.release_table(PEOPLE, **TABLE, out=tmp_path / "t.csv", overwrite=True, **sign),
        lambda **sign: ggdp.release_table(PEOPLE, **TABLE).write(tmp_path / "t.csv", overwrite=True, **sign),
    ):
        write(sign=KEY)
        assert "t.manifest.json.sig" in names(tmp_path)
        write(sign=OTHER)
        assert check(tmp_path / "t.manifest.json", signers=frozenset({OTHER.public_key().public_bytes_raw()}))
        write()
        assert names(tmp_path) == ["t.csv", "t.manifest.json"]


def test_a_signature_that_is_there_already_is_not_replaced_unasked(tmp_path):
    (tmp_path / "t.manifest.json.sig").write_text("of an earlier release")
    with pytest.raises(ArgumentError, match=r"'t\.manifest\.json\.sig' already exists"):
        ggdp.release_table(PEOPLE, **TABLE, out=tmp_path / "t.csv")
    assert names(tmp_path) == ["t.manifest.json.sig"]


@pytest.mark.parametrize("wrong", ["absent", "public"])
def test_a_key_that_cannot_sign_is_refused_before_the_ledger_is_charged_and_the_data_are_opened(tmp_path, wrong):
    (tmp_path / "public").write_bytes(public())
    ledger = ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.PureDP(2.0))
    before = names(tmp_path)
    with pytest.raises(ArgumentError, match="sign = "):
        ggdp.release_table(
            tmp_path / "no data.csv", **TABLE, out=tmp_path / "t.csv", ledger=ledger, sign=tmp_path / wrong
        )
    assert len(list(ledger.entries())) == 0
    assert names(tmp_path) == before


def test_a_signature_needs_a_file():
    with pytest.raises(ArgumentError, match="sign = 'a key': needs `out`"):
        ggdp.release_table(PEOPLE, **TABLE, sign=KEY)


def test_nothing_is_written_if_signing_fails(tmp_path, monkeypatch):
    def broken(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(output_files, "sign", broken)
    with pytest.raises(OSError, match="Input/output error"):
        ggdp.release_table(PEOPLE, **TABLE, out=tmp_path / "t.csv", sign=KEY)
    assert names(tmp_path) == []


def test_nothing_is_written_if_the_signature_cannot_be(tmp_path, monkeypatch):
    whole = os.fsync
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        whole(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArgumentError, match="No space left"):
        ggdp.release_table(PEOPLE, **TABLE, out=tmp_path / "t.csv", sign=KEY)
    assert names(tmp_path) == []


def test_a_ledger_is_never_taken_for_a_stale_signature(tmp_path):
    ledger = tmp_path / "t.manifest.json.sig"
    ggdp.Ledger.create(ledger, ggdp.PureDP(2.0))
    before = ledger.read_bytes()
    with pytest.raises(ArgumentError, match="ledger"):
        ggdp.release_table(PEOPLE, **TABLE, out=tmp_path / "t.csv", ledger=ledger, overwrite=True)
    assert ledger.read_bytes() == before


# Readers


@pytest.fixture
def published(tmp_path):
    """Two signed releases, by different keys, and the public key of the first."""
    for name, key in (("a", KEY), ("b", OTHER)):
        ggdp.release_table(PEOPLE, **TABLE, out=tmp_path / f"{name}.csv", sign=key)
    (tmp_path / "key.pub").write_bytes(public())
    return tmp_path


@pytest.mark.parametrize("read", [ggdp.compose, ggdp.report])
def test_totals_and_reports_require_signatures_by_the_signer(published, read):
    ours, theirs, signer = published / "a.manifest.json", published / "b.manifest.json", published / "key.pub"
    assert read([ours], signer=signer)
    assert read([ours, theirs])
    with pytest.raises(ArgumentError, match="which is not the signer's") as refused:
        read([ours, theirs], signer=signer)
    assert refused.value.value == str(theirs)
    signature_file(ours).unlink()
    assert read([ours])
    with pytest.raises(ArgumentError, match="is not signed"):
        read([ours], signer=signer)


@pytest.mark.parametrize("read", [ggdp.compose, ggdp.report])
def test_totals_and_reports_refuse_a_signature_that_does_not_fit(published, read):
    ours, theirs = published / "a.manifest.json", published / "b.manifest.json"
    signature_file(ours).write_bytes(signature_file(theirs).read_bytes())
    with pytest.raises(ArgumentError, match="does not match its signature"):
        read([ours])


def test_a_manifest_without_its_file_is_not_signed(published):
    manifest = json.loads((published / "a.manifest.json").read_bytes())
    assert ggdp.compose([manifest])
    with pytest.raises(ArgumentError, match="is a manifest without its file"):
        ggdp.compose([manifest], signer=published / "key.pub")


def test_a_report_says_whether_the_key_is_known(published):
    ours = published / "a.manifest.json"
    unknown, known = ggdp.report(ours), ggdp.report(ours, signer=published / "key.pub")
    assert "nobody has said whose key that is" in unknown.to_html()
    assert "nobody has said whose key that is" not in known.to_html()
    assert "by the signer" in known.to_html()
    assert known.to_dict()["releases"][0]["signature"]["signer"] is True
    assert unknown.to_dict()["releases"][0]["signature"]["signer"] is False
