r"""Detached signatures of manifests, in the format of OpenSSH (SSHSIG), by Ed25519 keys.

The signature of ``table.manifest.json`` is ``table.manifest.json.sig``. ``ssh-keygen -Y sign`` and ``-Y verify``, with
``-n ggdp-manifest``, write and check the same files, so a reader needs no ggdp and an institution no new kind of key.

=================  ===========================================================================================
signed             ``"SSHSIG" s(namespace) s("") s("sha512") s(SHA-512 of the file)``, s(x) being x after its length
file               ``"SSHSIG" 1 s(public key) s(namespace) s("") s("sha512") s(signature)``, base64 in two marker lines
=================  ===========================================================================================

Claim. One signature has one sequence of bytes before base64: what was parsed is put together again and compared. The
key in a file only says which key to check; who holds it is known only if the caller names the key (`read_signers`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ggdp._files import read_file
from ggdp.errors import ArgumentError, ArgumentTypeError, Message

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAMESPACE = "ggdp-manifest"
PASSPHRASE = "GGDP_SIGN_PASSPHRASE"
_KIND = b"ssh-ed25519"
_MAGIC, _VERSION, _HASH = b"SSHSIG", (1).to_bytes(4, "big"), b"sha512"
_BEGIN, _END = b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----"
_MOST_OF_A_SIGNATURE, _MOST_OF_A_KEY, _MOST_OF_SIGNERS = 1 << 13, 1 << 14, 1 << 20
_SSH_KIND = re.compile(rb"(?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+")
_NAMESPACES = re.compile(rb'namespaces="([^"]*)"')
# Names of people; an option, or a mark such as @revoked, is none.
_PRINCIPALS = re.compile(rb"(?!cert-authority$)[\w*?.+-][\w*?.+,@-]*")
_PRIME = 2**255 - 19
_ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
# The y of all points of order 1, 2, 4 and 8: one signature by such a key fits many messages.
_SMALL_ORDER = {1, _PRIME - 1, 0, _ORDER_8, _PRIME - _ORDER_8}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A signature that fits its file."""

    key: str  # the fingerprint of the key, as ``ssh-keygen -l`` shows it
    signer: bool  # whether the caller named this key. If not, the signature does not prove who signed.

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"valid, by the signer's key {self.key}" if self.signer else f"valid, by an unknown key {self.key}"


def signature_file(file: Path) -> Path:
    """Return where the signature of a file is."""
    return file.with_name(f"{file.name}.sig")


def signing_key(
    sign: str | os.PathLike[str] | Ed25519PrivateKey, ask: Callable[[], str] | None = None
) -> Ed25519PrivateKey:
    """Return the private Ed25519 key in a file that only its owner may read; `ask` is for its passphrase."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if isinstance(sign, Ed25519PrivateKey):
        return sign
    if not isinstance(sign, str | os.PathLike):
        raise ArgumentTypeError("sign", type(sign).__name__, "must be the path of a private key, or an Ed25519 key")
    name = os.fspath(sign)
    content = read_file(name, argument="sign", most=_MOST_OF_A_KEY, pipe=False)
    if b"PRIVATE KEY-----" not in content:
        raise ArgumentError("sign", name, "is not a private key in the format of OpenSSH or PEM")
    content = read_file(name, argument="sign", most=_MOST_OF_A_KEY, pipe=False, secret=True)
    found = _load(name, content, None)
    if found is None:
        passphrase = os.environ.get(PASSPHRASE) or (None if ask is None else ask())
        if not passphrase:
            expected = f"has a passphrase; set the environment variable {PASSPHRASE}, or sign at a terminal"
            raise ArgumentError("sign", name, expected)
        found = _load(name, content, os.fsencode(passphrase))
    if not isinstance(found, Ed25519PrivateKey):
        raise ArgumentError("sign", name, "is not an Ed25519 key; create one with: ssh-keygen -t ed25519 -f FILE")
    return found


def _load(name: str, content: bytes, passphrase: bytes | None) -> object:
    """Return the private key in a file; None if it needs a passphrase."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    load = load_ssh_private_key if b"-----BEGIN OPENSSH PRIVATE KEY-----" in content else load_pem_private_key
    try:
        return load(content, passphrase)
    except TypeError:
        if b"OPENSSH" not in content or find_spec("bcrypt") is not None:
            return None
    except UnsupportedAlgorithm:
        pass
    except ValueError:
        expected = "is not a private key in the format of OpenSSH or PEM" if passphrase is None else "wrong passphrase"
        raise ArgumentError("sign", name, expected) from None
    unreadable = Message(
        "is a kind of key that cannot be read here. An OpenSSH key with a passphrase needs the Python package bcrypt; "
        "or release without {sign}, and then run: ssh-keygen -Y sign -n {namespace} -f KEY MANIFEST",
        namespace=NAMESPACE,
    )
    raise ArgumentError("sign", name, unreadable)


def sign(content: bytes, key: Ed25519PrivateKey) -> bytes:
    """Return the signature of the content of a file, as a file of its own."""
    text = base64.b64encode(_blob(key.public_key().public_bytes_raw(), key.sign(_message(content))))
    # Of 70 characters, as ssh-keygen writes them.
    lines = (text[start : start + 70] for start in range(0, len(text), 70))
    return b"\n".join([_BEGIN, *lines, _END, b""])


def read_signers(signer: str | os.PathLike[str]) -> frozenset[bytes]:
    """Return the Ed25519 public keys in a file, at least one: OpenSSH (.pub), allowed_signers with several, or PEM.

    Keys of other kinds are skipped, since no signature by them is accepted. A line or an option that is not understood
    is an error.
    """
    if not isinstance(signer, str | os.PathLike):
        raise ArgumentTypeError("signer", type(signer).__name__, "must be the path of a file of public keys")
    name = os.fspath(signer)
    content = read_file(name, argument="signer", most=_MOST_OF_SIGNERS, pipe=False)
    try:
        found = frozenset(_pem_key(content) if b"-----BEGIN " in content else _ssh_keys(content))
        for key in found:
            _require_strong(key)
    except ValueError as wrong:
        raise ArgumentError("signer", name, str(wrong)) from None
    if not found:
        raise ArgumentError("signer", name, "has no Ed25519 public key; name a file such as id_ed25519.pub")
    return found


def _pem_key(content: bytes) -> list[bytes]:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    if b"PRIVATE KEY-----" in content:
        raise ValueError("is a private key; name the public key, and keep this one secret")
    try:
        key = load_pem_public_key(content)
    except (UnsupportedAlgorithm, ValueError):
        raise ValueError("is not a public key in the format of OpenSSH or PEM") from None
    return [key.public_bytes_raw()] if isinstance(key, Ed25519PublicKey) else []


def _ssh_keys(content: bytes) -> list[bytes]:
    """Return the Ed25519 keys of lines ``[PRINCIPALS [OPTIONS]] KIND BASE64 [COMMENT]``."""
    found = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        words = line.split()
        if not words or words[0].startswith(b"#"):
            continue
        kinds = (i for i in range(len(words) - 1) if _SSH_KIND.fullmatch(words[i]) and words[i + 1].startswith(b"AAAA"))
        place = next(kinds, None)
        if place is None:
            raise ValueError(f"line {number} is not a public key in the format of OpenSSH")
        # A key with an end date, or one that signs other keys, must not count as an unlimited one.
        limits = [_NAMESPACES.fullmatch(option) for option in words[1:place]]
        wanted = NAMESPACE.encode()
        understood = all(limit and wanted in limit[1].split(b",") and b"!" not in limit[1] for limit in limits)
        if not understood or (place > 0 and not _PRINCIPALS.fullmatch(words[0])):
            raise ValueError(f'line {number} has an option that is not understood; only namespaces="{NAMESPACE}" is')
        if words[place] == _KIND:
            blob = _decode(words[place + 1])
            key = blob[-32:]
            if blob != _public(key):
                raise ValueError(f"line {number} is not a public key in the format of OpenSSH")
            found.append(key)
    return found


def checked_signature(
    path: str | os.PathLike[str], content: bytes, signers: frozenset[bytes] | None = None, *, argument: str = "parts"
) -> Signature | None:
    """Return the signature next to a file with this content, checked; None if there is none and no signer is named.

    It is an error, which names `argument` and the file, if the signature does not fit the content; or, where signers
    are named, if it is missing or by another key.
    """
    name = os.fspath(path)
    file = signature_file(Path(name))
    if not os.path.lexists(file):
        if signers is not None:
            raise ArgumentError(argument, name, f"is not signed: {file.name!r} does not exist")
        return None
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key, signature = _parse_signature(read_file(file, argument=argument, most=_MOST_OF_A_SIGNATURE, pipe=False))
        Ed25519PublicKey.from_public_bytes(key).verify(signature, _message(content))
    except InvalidSignature:
        expected = f"does not match its signature {file.name!r}: it was changed after it was signed, or never signed"
        raise ArgumentError(argument, name, expected) from None
    except ValueError as wrong:
        why = wrong.expected if isinstance(wrong, ArgumentError) else wrong
        raise ArgumentError(argument, name, f"has no valid signature: {file.name!r} {why}") from None
    fingerprint = base64.b64encode(hashlib.sha256(_public(key)).digest()).decode().rstrip("=")
    found = Signature(key=f"SHA256:{fingerprint}", signer=signers is not None and key in signers)
    if signers is not None and not found.signer:
        raise ArgumentError(argument, name, f"is signed by the key {found.key}, which is not the signer's")
    return found


def _parse_signature(text: bytes) -> tuple[bytes, bytes]:
    """Return the public key and the signature in a file."""
    whole = text.strip()
    if not (whole.startswith(_BEGIN) and whole.endswith(_END) and len(whole) > len(_BEGIN) + len(_END)):
        raise ValueError("is not a signature in the format of OpenSSH")
    blob = _decode(b"".join(whole[len(_BEGIN) : -len(_END)].split()))
    fields = _strings(blob.removeprefix(_MAGIC + _VERSION))
    kind = next(iter(_strings(fields[0] if fields else b"")), b"")
    if kind != _KIND:
        raise ValueError(f"is by a key of another kind, {_show(kind)}; only ssh-ed25519 is accepted")
    if len(fields) > 1 and fields[1] != NAMESPACE.encode():
        raise ValueError(f"is for another purpose: its namespace is {_show(fields[1])}, not {NAMESPACE!r}")
    key, signature = fields[0][-32:], fields[-1][-64:]
    if blob != _blob(key, signature):
        raise ValueError("is not a signature by an Ed25519 key with SHA-512")
    _require_strong(key)
    return key, signature


def _blob(key: bytes, signature: bytes) -> bytes:
    parts = (_public(key), NAMESPACE.encode(), b"", _HASH, _string(_KIND) + _string(signature))
    return _MAGIC + _VERSION + b"".join(map(_string, parts))


def _message(content: bytes) -> bytes:
    """Return the bytes that are signed."""
    return _MAGIC + b"".join(map(_string, (NAMESPACE.encode(), b"", _HASH, hashlib.sha512(content).digest())))


def _public(key: bytes) -> bytes:
    return _string(_KIND) + _string(key)


def _require_strong(key: bytes) -> None:
    """Refuse a key that is no point in the usual encoding, or of small order."""
    y = int.from_bytes(key, "little") & (2**255 - 1)
    if len(key) != 32 or y >= _PRIME or y in _SMALL_ORDER:
        raise ValueError("has a key that is not secure")


def _string(value: bytes) -> bytes:
    return len(value).to_bytes(4, "big") + value


def _strings(blob: bytes) -> list[bytes]:
    """Return the strings that follow each other, each after its length."""
    found = []
    while blob:
        size, blob = int.from_bytes(blob[:4], "big"), blob[4:]
        if size > len(blob):
            raise ValueError("is damaged")
        found.append(blob[:size])
        blob = blob[size:]
    return found


def _decode(text: bytes) -> bytes:
    """Return the bytes of base64 that is written in the one usual way."""
    try:
        found = base64.b64decode(text, validate=True)
    except binascii.Error:
        found = b""
    if not found or base64.b64encode(found) != text:
        raise ValueError("is damaged: it is not base64")
    return found


def _show(text: bytes) -> str:
    return repr(text[:40].decode("ascii", "replace"))
