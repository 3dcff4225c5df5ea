"""Ledgers of each kind of accounting, on SQLite: all records with their hashes, what remains, and what is refused."""

from pathlib import Path

from tests.golden.releases import DOMAIN, PEOPLE
from tests.golden.transcripts import lines

import ggdp

APART = True
WARM = ("charged tables", "charged selections")

ONE = ggdp.Sensitivity.histogram()


def laplace(epsilon, query=ONE):
    """Return a mechanism of Laplace noise."""
    return ggdp.Mechanism(ggdp.calibrate(ggdp.PureDP(epsilon), query, order=1, support="integer"))


def noise(goal, order, query=ONE):
    """Return a mechanism of another order."""
    return ggdp.Mechanism(ggdp.calibrate(goal, query, order=order, support="integer"))


def plan(goal, **how):
    """Return the plan of a table."""
    return ggdp.plan_table(by=["sex"], goal=goal, domain=DOMAIN, **how)


def told(ledger, analysts=(None,)):
    """Return all that a ledger says, after its chain of hashes was verified."""
    ledger.verify()
    copy = ggdp.Ledger("people.ledger")
    return {
        "text": repr(copy),
        "head": [copy.head.number, str(copy.head)],
        "identity": copy.identity,
        "budget": str(copy.budget),
        "spent": [str(copy.spent(analyst)) for analyst in analysts],
        "remaining": [str(copy.remaining(analyst)) for analyst in analysts],
        "burn down": [left.hex() for left in copy.burn_down()],
        "entries": [[one.number, one.time, one.analyst, one.charge, one.files, one.hash] for one in copy.entries()],
        "jsonl": lines(copy.export()),
        "csv": lines(copy.export("csv")),
    }


def what_if(ledger, request):
    """Return what more releases of one kind would leave."""
    found = ledger.what_if(request, most=5)
    return [[left.hex() for left in found.left], str(found.remaining), found.refusal]


def create(budget, **how):
    """Return a new ledger."""
    return ggdp.Ledger.create("people.ledger", budget, **how)


def refusal(call, *arguments, **named):
    """Return the error of a call that must be refused."""
    try:
        found = call(*arguments, **named)
    except ggdp.GgdpError as refused:
        return f"{type(refused).__name__}: {refused}"
    raise AssertionError(f"not refused: {found!r}")


def sums():
    ledger = create(ggdp.ApproxDP(1.0, 1e-6))
    ledger.charge(laplace(0.1))
    ledger.charge(noise(ggdp.ApproxDP(0.2, 1e-7), 2))
    ledger.charge(ggdp.PureDP(0.3, "add-remove"), analyst="ana")
    entry = ledger.charge(plan(ggdp.PureDP(0.25)))
    ledger.record_publication(entry, {"people.csv": "0" * 64})
    refused = [
        refusal(ledger.charge, ggdp.PureDP(0.2, "add-remove")),
        refusal(ledger.charge, ggdp.PureDP(0.01, "replace-one")),
        refusal(ledger.charge, ggdp.PureDP(0.01)),
        refusal(ledger.charge, ggdp.ApproxDP(0.01, 1e-3, "add-remove")),
        refusal(ledger.charge, 1.0),
        refusal(ledger.reserve, [laplace(0.1)]),
        refusal(ledger.record_publication, 9, {"people.csv": "0" * 64}),
        refusal(ledger.record_publication, entry, {"people.csv": "0" * 64}),
        refusal(ledger.record_publication, 1, {"people.csv": "0"}),
        refusal(ledger.spent, "ana"),
        refusal(ledger.verify, "0" * 64),
        refusal(create, ggdp.PureDP(1.0)),
    ]
    return {"refused": refused, "what if": what_if(ledger, laplace(0.04)), **told(ledger)}


def renyi():
    ledger = create(ggdp.ApproxDP(2.0, 1e-6), accounting="renyi", unit="patients")
    ledger.charge(laplace(0.1))
    ledger.charge(noise(ggdp.ApproxDP(0.2, 1e-7), 2))
    ledger.charge(noise(ggdp.ApproxDP(0.2, 1e-7), 3, ggdp.Sensitivity.histogram(max_cells=3)))
    ledger.charge(ggdp.PureDP(0.3, "add-remove"))
    ledger.charge(plan(ggdp.ApproxDP(0.2, 1e-8), order=2, unit_name="patients", unit="person", max_cells=1))
    refused = [
        refusal(ledger.charge, laplace(3.0)),
        refusal(ledger.charge, plan(ggdp.PureDP(0.1), unit_name="visits")),
        refusal(create, ggdp.PureDP(1.0), accounting="renyi"),
    ]
    return {"refused": refused, "what if": what_if(ledger, laplace(0.1)), **told(ledger)}


def reserved():
    ledger = create(ggdp.ApproxDP(1.0, 1e-6), accounting="reserved")
    weekly, monthly = laplace(0.02), noise(ggdp.ApproxDP(0.1, 1e-9), 2)
    delta = ledger.reserve([(weekly, 20), (monthly, 3)])
    more = ledger.reserve([(weekly, 5)])
    before = refusal(ledger.charge, laplace(0.5))
    ledger.charge(weekly)
    ledger.charge(monthly)
    ledger.charge(weekly)
    refused = [before, refusal(ledger.reserve, [(weekly, 1)]), refusal(ledger.reserve, [])]
    return {"delta": [delta.hex(), more.hex()], "refused": refused, **told(ledger)}


def too_much_reserved():
    ledger = create(ggdp.ApproxDP(1.0, 1e-6), accounting="reserved")
    return {"refused": [refusal(ledger.reserve, [(laplace(0.5), 9)])], **told(ledger)}


def analysts():
    caps = {"ana": ggdp.ApproxDP(0.6, 1e-7), "bob": ggdp.PureDP(0.2)}
    ledger = create(ggdp.ApproxDP(1.0, 1e-6), analysts=caps, neighbours="replace-one")
    query = ggdp.Sensitivity.histogram("replace-one")
    ledger.charge(laplace(0.2, query), analyst="ana")
    ledger.charge(laplace(0.1, query), analyst="bob")
    ledger.charge(noise(ggdp.ApproxDP(0.3, 1e-8), 2, query), analyst="ana")
    refused = [
        refusal(ledger.charge, laplace(0.2, query), analyst="bob"),
        refusal(ledger.charge, laplace(0.2, query), analyst="eve"),
        refusal(ledger.charge, laplace(0.2, query)),
    ]
    return {"refused": refused, **told(ledger, (None, "ana", "bob"))}


def renyi_analysts():
    caps = {"ana": ggdp.ApproxDP(0.6, 1e-7), "bob": ggdp.ApproxDP(0.2, 1e-8)}
    ledger = create(ggdp.ApproxDP(1.0, 1e-6), analysts=caps, accounting="renyi")
    ledger.charge(laplace(0.1), analyst="ana")
    ledger.charge(noise(ggdp.ApproxDP(0.1, 1e-9), 2), analyst="bob")
    return told(ledger, (None, "ana", "bob"))


def tables():
    """Releases that are charged, from the fixed randomness of the process: a seeded source has no guarantee."""
    ledger = create(ggdp.ApproxDP(4.0, 1e-4))
    how = {"domain": DOMAIN, "ledger": ledger}
    ggdp.release_table(PEOPLE, by=["sex"], goal=ggdp.PureDP(0.5), out="sex.csv", **how)
    units = {"unit": "person", "max_cells": 2, "statistics": [ggdp.Mean("income")]}
    refused = [refusal(ggdp.release_table, PEOPLE, by=["sex"], goal=ggdp.PureDP(0.5), **units, **how)]
    ggdp.release_table(PEOPLE, by=["ward"], goal=ggdp.ApproxDP(0.5, 1e-6), out="ward.csv", **how)
    ggdp.private_range(PEOPLE, "income", ggdp.PureDP(1.0), ledger="people.ledger", analyst="ana")
    mean = {"statistics": [ggdp.Mean("income")]}
    release = ggdp.release_table(PEOPLE, by=["sex"], goal=ggdp.PureDP(1.0), **mean, **how)
    seeded = {"rng": ggdp.SeededSource(seed=1)}
    refused.append(refusal(ggdp.release_table, PEOPLE, by=["sex"], goal=ggdp.PureDP(0.5), **seeded, **how))
    refused.append(refusal(ggdp.release_table, PEOPLE, by=["sex"], goal=ggdp.PureDP(3.5), **how))
    files = {file.name: lines(file.read_text("utf-8")) for file in sorted(Path().glob("*.[cj]s*"))}
    return {"refused": refused, "manifest": release.manifest, **files, **told(ledger)}


def selections():
    ledger = create(ggdp.PureDP(1.0))
    chooses = ggdp.ExponentialMechanism(ggdp.PureDP(0.25), sensitivity=1, candidates=["a", "b"])
    chosen = [repr(chooses.release([3, 5], ledger=ledger).values) for _ in range(3)]
    noisy = laplace(0.1).release([3, 4], ledger=ledger)
    refused = [refusal(chooses.release, [3, 5], ledger=ledger)]
    return {"chosen": chosen, "noisy": noisy.values.tolist(), "manifest": noisy.manifest, "refused": refused} | told(
        ledger
    )


CASES = {
    "sums": sums,
    "Renyi": renyi,
    "reserved": reserved,
    "reserved, too much": too_much_reserved,
    "caps of analysts": analysts,
    "Renyi, caps of analysts": renyi_analysts,
    "charged tables": tables,
    "charged selections": selections,
}
