"""Every command with its errors: what it prints, its exit code, and the files that it writes.

A case is a few command lines in a directory with two small sources, their domain, a key and a deployment.
"""

import contextlib
import hashlib
import io
import re
import shlex
import sys
from importlib.metadata import entry_points
from pathlib import Path

from ggdp.cli import main

APART = True
WARM = (
    "plan --epsilon 1",
    "calibrate --order 3 --epsilon 1 --delta 1e-6 --json",
    "INIT && ledger show people.ledger && ledger show people.ledger --json && ledger verify people.ledger && "
    "ledger verify people.ledger --json",
    "report MANIFEST --out r.html --json",
    "range people.csv pay --epsilon 1",
    "check people.csv --by town --domain people.toml",
    "demo --out d",
)

PEOPLE = """person,town,age,visited,pay
p1,"Aach, Bodensee",17,2024-01-06,1200
p1,Zell,18,2024-02-07,1300
p2,Zell,,2024-02-09,900
p3,Bonn,44,2024-03-01,4100
p4,Zell,61,2024-04-30,x
p4,Zell,61,2024-05-01,2500
p5,=1+1,30,2023-12-31,2600
"""
DOMAIN = (
    '[columns.town]\nlevels = ["Aach, Bodensee", "Zell"]\nother = "elsewhere"\n\n[columns.pay]\nrange = [0, 5000]\n'
)
DEPLOYMENT = """[product]
name = "Towns"
description = "Counts of people by town."
intended_use = "Teaching."
region = "Germany"
published = 2026-01-02

[[curators]]
name = "Office"
type = "Government"

[answers]
parameters = "The board chose epsilon = 3."
unit = "One row is one visit."

[registry]
authors = ["Office"]
data_source = "Static"
number_of_units = 5

[signatures]
roles = ["Director"]
"""
KEY = b"golden key that signs nothing...."[:32]

HELP = [[], ["account"], ["belief"], ["calibrate"], ["check"], ["demo"], ["explore"], ["plan"], ["range"], ["release"]]
HELP += [["compare"], ["report"], ["reproduce"], ["verify"], ["ledger"]]
HELP += [["ledger", name] for name in ("init", "show", "verify", "export", "reserve", "upgrade")]

BY = "release people.csv --by town --domain people.toml --epsilon 1"
LEDGER = "ledger init people.ledger --epsilon 3 --delta 1e-6"
# One case in each line: the exit code of the last command line, and command lines without the word ggdp, joined as in a
# shell by && and ||. BY and INIT stand for the two above; MANIFEST and CHANGED for a manifest and a forged one.
LINES = Path(__file__).with_name("command_lines.txt")
SHORT = {"INIT": LEDGER, "BY": BY}


def prepare():
    """Write what the command lines read."""
    from cryptography.hazmat.primitives import serialization as as_bytes
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(KEY)
    private = key.private_bytes(as_bytes.Encoding.PEM, as_bytes.PrivateFormat.PKCS8, as_bytes.NoEncryption())
    public = key.public_key().public_bytes(as_bytes.Encoding.OpenSSH, as_bytes.PublicFormat.OpenSSH)
    Path("people.csv").write_text(PEOPLE, "utf-8")
    Path("people.toml").write_text(DOMAIN, "utf-8")
    Path("deployment.toml").write_text(DEPLOYMENT, "utf-8")
    Path("key.pem").write_bytes(private)
    Path("key.pem").chmod(0o600)
    Path("key.pub").write_bytes(public + b"\n")


def typed(words):
    """Return what a command line prints, and its exit code."""
    words, target = (words[: words.index(">")], words[-1]) if ">" in words else (words, None)
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["ggdp", *words]
    code = None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code
    if target is not None:
        Path(target).write_text(out.getvalue(), "utf-8")
    said = {"$": shlex.join(words), "exit": code, "stdout": lines(out.getvalue()), "stderr": lines(err.getvalue())}
    return {name: value for name, value in said.items() if value not in ([], 0)}


def lines(text):
    """Return the lines of a text; a last one that is not ended is marked."""
    found = text.split("\n")
    return found[:-1] if found[-1] == "" else [*found[:-1], found[-1] + "<no end of line>"]


def contents(before):
    """Return the files that were written: texts as they are, pages by their hash and words, others by name."""
    found = {}
    for file in sorted(Path().rglob("*")):
        if not file.is_file() or str(file) in before:
            continue
        data = file.read_bytes()
        if file.suffix == ".html":
            words = re.sub(r"(?s)<style.*?</style>|<[^>]+>", "\n", data.decode("utf-8"))
            found[str(file)] = [hashlib.sha256(data).hexdigest(), *re.sub(r"\s*\n\s*", "\n", words).strip().split("\n")]
        elif file.suffix in (".csv", ".json", ".yaml", ".sig"):
            found[str(file)] = lines(data.decode("utf-8"))
        else:
            # Pictures depend on fonts, and files of SQLite on its version: their records are exported.
            found[str(file)] = "there"
    return found


def _transcript(line, expected):
    def case():
        prepare()
        before = {str(file) for file in Path().rglob("*")}
        if "MANIFEST" in line or "CHANGED" in line:
            typed(shlex.split(f"{BY} --out m.csv"))
            text = Path("m.manifest.json").read_text("utf-8")
            Path("changed.manifest.json").write_text(text.replace('"epsilon": 1.0', '"epsilon": 0.5'), "utf-8")
            before |= {str(file) for file in Path().rglob("*")}
        said, code = [], 0
        for either in line.split(" || "):
            code = 0
            for one in either.split(" && "):
                words = shlex.split(one)
                words = [part for word in words for part in shlex.split(SHORT.get(word, word), posix=False)]
                words = [{"MANIFEST": "m.manifest.json", "CHANGED": "changed.manifest.json"}.get(w, w) for w in words]
                said.append(typed(words))
                code = said[-1].get("exit", 0)
                if code:
                    break
            if not code:
                break
        assert code == expected, f"{line}\nended with {code}: {said[-1]}"
        record = {f"{place + 1}": one for place, one in enumerate(said)}
        return record | ({"files": found} if (found := contents(before)) else {})

    return case


def _cases():
    for path in HELP:
        yield " ".join([*path, "--help"]), _transcript(" ".join([*path, "--help"]), 0)
    for line in LINES.read_text("utf-8").splitlines():
        code, _, rest = line.partition(" ")
        yield rest, _transcript(rest, int(code))


CASES = dict(_cases())
# The paper is a project of its own, and is compared where it is installed.
ABSENT = () if entry_points(group="ggdp.commands") else {name for name in CASES if name.startswith("reproduce")}
