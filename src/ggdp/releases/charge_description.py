"""What a ledger records of a release before there is one: the mechanism, and the statement of the manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ggdp.releases.release import released

if TYPE_CHECKING:
    from typing import Any

    from ggdp.privacy import Guarantee
    from ggdp.releases.mechanism_record import MechanismRecord

__all__ = ["Description", "described"]


class Description(TypedDict):
    """The request of a release as plain values, and its statement; both are known without the data."""

    request: dict[str, Any]
    statement: str


def described(record: MechanismRecord, guarantee: Guarantee) -> Description:
    """Return the description of a release of a mechanism, without the certificate, which its noise implies."""
    # The statement does not depend on the values: that of a release of none of them is the same.
    empty = released(np.empty(0, dtype=np.int64), record, guarantee)
    mechanism = {name: value for name, value in record.to_dict().items() if name != "certificate"}
    return {"request": {"sensitivity": record.sensitivity, **mechanism}, "statement": empty.manifest["statement"]}
