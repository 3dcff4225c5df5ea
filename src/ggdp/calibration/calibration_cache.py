"""Calibrations that were found before, kept in the user's cache directory and proved again when they are read.

A dry run and the release that follows it need the same calibration, and finding it can take seconds. What is kept is
its certificate, which depends on the request alone: no data, and nothing computed from data, is in it. A certificate
from the cache is checked against the question and proved again before it is used, so that a file that was changed or
damaged is at most ignored. Files are written beside their target and renamed, so that several processes can share them.

The environment variable ``GGDP_CACHE`` set to ``off`` switches the cache off. Its place is ``XDG_CACHE_HOME/ggdp``
where that is set, or else the platform's directory for caches.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

import flint

from ggdp._files import cache_directory, read_json, write_together
from ggdp.calibration.calibration import calibration_from
from ggdp.errors import GgdpError
from ggdp.privacy import PureDP
from ggdp.proofs.certificate import Certificate
from ggdp.proofs.requirements import Question

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ggdp.calibration.calibration import Calibration
    from ggdp.privacy import Guarantee, Sensitivity

SWITCH = "GGDP_CACHE"
# Counts up with every change of what a certificate holds or how a calibration is searched.
VERSION = 3
MOST_FILES = 256
LARGEST = 1 << 20


def remembered(
    goal: Guarantee, sensitivity: Sensitivity, order: float | None, make: Callable[[], Calibration]
) -> Calibration:
    """Return the calibration on the integers for a goal from the cache, proved again, or make it and keep it.

    An order of None stands for the best one, which `make` then chooses.
    """
    path = _path(goal, sensitivity, order)
    if path is None:
        return make()
    found = _read(path, goal, sensitivity, order)
    if found is None:
        found = make()
        _keep(path, found)
    return found


def _path(goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Path | None:
    """Return the file of a question; None if the cache is switched off or has no place."""
    directory = None if os.environ.get(SWITCH, "").lower() == "off" else cache_directory()
    if directory is None:
        return None
    asked = [VERSION, flint.__version__, goal.to_dict(), asdict(sensitivity), order]
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    return directory / "certificates" / f"{digest}.json"


def _read(path: Path, goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Calibration | None:
    """Return the calibration that a file holds, proved; None if there is none that is about the question."""
    try:
        record = read_json(path, argument="cache", most=LARGEST)
        certificate = Certificate.from_dict(record["certificate"])
        kept = certificate.law.order
        if order is not None and kept != order:
            return None
        # Any order is private, so the planner's choice needs no proof; and pure DP implies every other goal.
        asked = PureDP(goal.epsilon, goal.neighbours) if record["pure"] is True else goal
        question = Question(goal=asked, sensitivity=sensitivity, order=kept, support="integer")
        found = calibration_from(question, certificate)
        found.require_proof()
    except (GgdpError, KeyError, TypeError, ValueError):
        return None
    return found


def _keep(path: Path, found: Calibration) -> None:
    """Write the certificate of a calibration, and remove the oldest files; a disk that is full is not an error."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"pure": isinstance(found.goal, PureDP), "certificate": found.certificate.to_dict()}
        write_together({path: json.dumps(record).encode()}, overwrite=True)
        files = sorted(path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for file in files[:-MOST_FILES]:
            file.unlink(missing_ok=True)
