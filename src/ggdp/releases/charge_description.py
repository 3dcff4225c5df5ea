"""What a ledger records of a release before there is one: the mechanism, and the statement of the manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.ledger.charge_request import ChargeRequest
from ggdp.releases.release import released

if TYPE_CHECKING:
    from ggdp.privacy import Guarantee
    from ggdp.releases.mechanism_record import MechanismRecord


def charge_of(record: MechanismRecord, guarantee: Guarantee) -> ChargeRequest:
    """Return what a release of a mechanism asks a ledger for, without the certificate, which its noise implies."""
    # The statement does not depend on the values: that of a release of none of them is the same.
    empty = released(np.empty(0, dtype=np.int64), record, guarantee)
    mechanism = {name: value for name, value in record.to_dict().items() if name != "certificate"}
    return ChargeRequest(
        guarantee=guarantee,
        losses=record.losses,
        request={"sensitivity": record.sensitivity, **mechanism},
        statement=empty.manifest["statement"],
    )
