"""Golden files: what ggdp computes, publishes and prints, compared byte by byte after every change.

They were made before the code was rearranged, and say that nothing changed but its arrangement::

    python tests/golden/make.py --check                  # compare everything: what test_golden.py does
    python tests/golden/make.py --check ledgers          # one subject
    python tests/golden/make.py --check ledgers renyi    # those of its cases that have a word in their names
    python tests/golden/make.py ledgers                  # write them anew
    python tests/golden/make.py --new ledgers            # write only cases that are not in the file yet

============  ========================================================================================================
certificates  calibrations over all bounds, with scales as hexadecimal floats; refused ones with their messages
accounting    privacy profiles, Renyi curves, totals of several releases, plans, audits of given noise
releases      published files and manifests from seeded sources, over all regimes and engines
ledgers       each kind of accounting, with all records and their hashes
transcripts   every command and its errors: output, errors, exit code, written files
============  ========================================================================================================

When a difference is meant (another order of random words, a message), write that subject anew, read the difference in
git, and say in the commit which cases differ and why. A difference that nobody meant is a bug of the change, not of the
file. A new feature adds cases, and changes none.

Each subject is a module with `CASES`, functions by name; they use public names and the command line only. They run
in a process of their own, where randomness, time and versions are fixed (`fixed_world`), so that nothing is masked but
temporary directories. Numbers are those of any x86-64 processor with AVX2 and the versions of constraints.txt: the
instructions that only newer processors have are switched off.
"""

import argparse
import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.golden import fixed_world  # noqa: E402

FILES = Path(__file__).parent
SUBJECTS = ("certificates", "accounting", "releases", "ledgers", "transcripts")
PARTS = ("fast", "slow", "all")
# In place of what a case says that ended with an error which is not ggdp's.
CRASHED = "crashed"
# Those that only `make test-all` compares, with the processor seconds of the others.
SLOW = FILES / "slow_cases.json"
SECONDS = {"certificates": 8.0, "accounting": 4.0, "releases": 6.0, "ledgers": 3.0, "transcripts": 7.0}


def golden_file(subject):
    """Return the golden file of a subject."""
    return FILES / f"{subject}.json"


def golden(subject):
    """Return the cases of a golden file."""
    return json.loads(golden_file(subject).read_text("utf-8"))


def written(cases):
    """Return cases as the text of a golden file: JSON, a line for each field of a case."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {_block(value)}" for name, value in cases.items()) + "\n}\n"


def _block(value, depth=1):
    """Return a value in lines that a difference can be read from: fields of records, and lines of texts."""
    margin = " " * depth
    if isinstance(value, dict) and depth < 3 and value:
        rows = [f"{json.dumps(name)}: {_block(part, depth + 1)}" for name, part in value.items()]
        return "{\n" + ",\n".join(margin + row for row in rows) + "}"
    if isinstance(value, list) and len(value) > 1 and all(isinstance(part, str) for part in value):
        return "[\n" + ",\n".join(margin + json.dumps(part, ensure_ascii=False) for part in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def first_difference(expected, found):
    """Return where two values differ first, and how; None if they are the same."""
    if type(expected) is not type(found):
        return f": expected {expected!r}\n  found    {found!r}"
    if isinstance(expected, dict):
        if CRASHED in found:
            return f": ended with an error that is not ggdp's: {found[CRASHED]}"
        for name in [*expected, *(name for name in found if name not in expected)]:
            if name not in found or name not in expected:
                return f" / {name}: " + ("is missing" if name in expected else "is new")
            if (below := first_difference(expected[name], found[name])) is not None:
                return f" / {name}{below}"
        return None if list(expected) == list(found) else f": order {list(expected)}\n  found {list(found)}"
    if isinstance(expected, list):
        for place, (one, other) in enumerate(zip(expected, found, strict=False)):
            if (below := first_difference(one, other)) is not None:
                return f" / {place}{below}"
        if len(expected) != len(found):
            return f": expected {len(expected)} items\n  found {len(found)}: {(expected + found)[-1]!r} is the last"
        return None
    # As text: 0.0 and -0.0 differ, and not-a-number is itself.
    return None if repr(expected) == repr(found) else f": expected {expected!r}\n  found    {found!r}"


def outcome(case):
    """Return what a case returns as JSON has it, its error, or what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Most cases declare no unit; transcripts have the warning.
        warnings.filterwarnings("ignore", "no unit is declared")
        try:
            value = case()
        except Exception as error:
            if not type(error).__module__.startswith("ggdp"):
                raise
            value = {"error": f"{type(error).__name__}: {error}"}
            if getattr(error, "__notes__", None):
                value["notes"] = error.__notes__
    if caught:
        said = [f"{one.category.__name__}: {one.message}" for one in caught]
        value = {"value": value, "warnings": said}
    return json.loads(json.dumps(value, default=repr))


def apart(case, finish=outcome):
    """Return the outcome of a case in a copy of this process and an empty directory."""
    read_end, write_end = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        code = 1
        try:
            fixed_world.restart_randomness()
            with os.fdopen(write_end, "w", encoding="utf-8") as pipe:
                try:
                    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                        found = json.dumps(finish(case)).replace(os.path.realpath(folder), fixed_world.HERE)
                    code = 0
                except BaseException:
                    found = json.dumps(traceback.format_exc())
                pipe.write(found)
        finally:
            os._exit(code)
    os.close(write_end)
    with os.fdopen(read_end, encoding="utf-8") as pipe:
        found = pipe.read()
    _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError(json.loads(found or '"the process ended"'))
    return json.loads(found)


def load(cases):
    """Load once what each copy of this process would load again: the modules that some cases load in one."""

    def loaded(case):
        outcome(case)
        return list(sys.modules)

    for case in cases:
        for name in apart(case, loaded):
            if name not in sys.modules:
                with contextlib.suppress(Exception), warnings.catch_warnings(action="ignore"):
                    importlib.import_module(name)


def computed(subject, words=(), part="all", but=()):
    """Return the outcomes of the cases of a subject that are asked for, and the processor time of each."""
    module = importlib.import_module(f"tests.golden.{subject}")
    slow = set(json.loads(SLOW.read_text("utf-8")).get(subject, ())) if part != "all" else set()
    run = apart if getattr(module, "APART", False) else outcome
    load(module.CASES[name] for name in getattr(module, "WARM", ()))
    found, times = {}, {}
    for name, case in module.CASES.items():
        if name in getattr(module, "ABSENT", ()) or name in but:
            continue
        if (part != "all" and (part == "slow") != (name in slow)) or not all(word in name for word in words):
            continue
        before = os.times()
        try:
            found[name] = run(case)
        except Exception as error:
            found[name] = {CRASHED: f"{type(error).__name__}: {error}"}
        times[name] = sum(os.times()[:4]) - sum(before[:4])
    return found, times


def in_order(subject, found):
    """Return cases with those of the golden file that cannot be run here, in the order of their module."""
    module = importlib.import_module(f"tests.golden.{subject}")
    found = found | {name: golden(subject)[name] for name in getattr(module, "ABSENT", ())}
    return {name: found[name] for name in module.CASES}


def slow_cases(subject, times):
    """Return the cases that are left out of `make test`: the dearest, but for the cheapest of each kind.

    The kind of a case is the first words of its name.
    """
    never = getattr(importlib.import_module(f"tests.golden.{subject}"), "EXHAUSTIVE", ())
    cheapest_first = [name for name in sorted(times, key=times.get) if kind_of(name) not in never]
    kinds = {}
    for name in cheapest_first:
        kinds.setdefault(kind_of(name), name)
    fast = set(kinds.values())
    spent = sum(times[name] for name in fast)
    for name in cheapest_first:
        if name not in fast and spent + times[name] <= SECONDS[subject]:
            fast.add(name)
            spent += times[name]
    return [name for name in times if name not in fast]


def kind_of(name):
    """Return the kind of a case: what stands before a semicolon, or the command."""
    return name.partition(";")[0] if ";" in name else " ".join(name.split()[: 2 if name.startswith("ledger") else 1])


def main():
    parser = argparse.ArgumentParser(description="Make golden files, or compare them.")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--new", action="store_true", help="keep what is in the file, and write new cases only")
    parser.add_argument("--measure", action="store_true", help="measure, and write which cases are slow")
    parser.add_argument("--part", choices=PARTS, default="all", help="only those that are fast, or slow")
    parser.add_argument("subject", nargs="?", choices=SUBJECTS, help="only this subject")
    parser.add_argument("words", nargs="*", help="only cases with these words in their names")
    asked = parser.parse_args()
    if not fixed_world.is_fixed():
        return subprocess.call([sys.executable, __file__, *sys.argv[1:]], env=fixed_world.environment())
    if not asked.check and not asked.measure and (asked.words or asked.part != "all"):
        parser.error("a subject is written as a whole")
    fixed_world.fix()
    different = 0
    for subject in [asked.subject] if asked.subject else SUBJECTS:
        kept = golden(subject) if asked.new else {}
        found, times = computed(subject, asked.words, asked.part, kept)
        if asked.measure:
            slow = json.loads(SLOW.read_text("utf-8")) if SLOW.exists() else {}
            slow[subject] = slow_cases(subject, times)
            SLOW.write_text(json.dumps(slow, indent=1, ensure_ascii=False) + "\n", "utf-8")
            fast = sum(times[name] for name in times if name not in slow[subject])
            print(f"{subject}: {sum(times.values()):.0f} s, without slow cases {fast:.0f} s")
        if asked.measure and not asked.check:
            continue
        if not asked.check:
            for name, value in found.items():
                if isinstance(value, dict) and CRASHED in value:
                    parser.error(f"{subject}: {name}: {value[CRASHED]}")
            golden_file(subject).write_text(written(in_order(subject, kept | found)), "utf-8")
            print(f"{subject}: {len(found)} cases written")
            continue
        different += compared(subject, found, whole=asked.part == "all" and not asked.words)
    return 1 if different else 0


def compared(subject, found, *, whole):
    """Print which cases are not those of the golden file, the first difference of some; return how many."""
    absent = getattr(importlib.import_module(f"tests.golden.{subject}"), "ABSENT", ())
    held = {name: value for name, value in golden(subject).items() if name not in absent}
    expected = held if whole else {name: held[name] for name in found if name in held}
    names = [*expected, *(name for name in found if name not in expected)]
    wrong = {}
    for name in names:
        one = first_difference(
            {name: expected[name]} if name in expected else {}, {name: found[name]} if name in found else {}
        )
        if one is not None:
            wrong[name] = one
    # Cases that are missing or new say less than those that differ.
    for said in sorted(wrong.values(), key=lambda one: one.endswith(("is missing", "is new")))[:20]:
        print(f"{subject}{said}")
    print(f"{subject}: {len(names) - len(wrong)} of {len(names)} cases are equal")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
