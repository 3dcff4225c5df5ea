"""``ggdp belief``: what an attacker can learn of one person, from epsilon and delta alone."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ggdp._rounding import rounded_down_text, rounded_text, rounded_up_text
from ggdp.cli.output import AsJson, print_json, print_table, say
from ggdp.cli.query import Delta, Epsilon, NotionFlag, goal_of, numbers_of


def belief(
    epsilon: Epsilon,
    delta: Delta = None,
    notion: NotionFlag = None,
    prior: Annotated[
        str, typer.Option(metavar="P[,P...]", help="What an attacker believes before the release, each in (0, 1).")
    ] = "0.01,0.1,0.5",
    as_json: AsJson = False,
) -> None:
    """Show what an attacker can come to believe of one person. Reads no data."""
    goal = goal_of(epsilon, delta, notion)
    priors = numbers_of("prior", prior)
    from ggdp.privacy.beliefs import belief as believed

    found = [believed(goal, one) for one in priors]
    if as_json:
        print_json({"goal": goal.to_dict(), "beliefs": [asdict(one) for one in found]})
        return
    print_table(
        f"an attacker's belief in one of two neighbouring data sets, {goal}",
        [
            (
                f"{rounded_text(100.0 * one.prior)} %",
                f"{rounded_down_text(100.0 * one.lowest)} %",
                f"{rounded_up_text(100.0 * one.highest)} %",
                f"{rounded_up_text(100.0 * one.right)} %",
            )
            for one in found
        ],
        header=("before", "after, at least", "after, at most", "best guess is right"),
    )
    if goal.delta > 0.0:
        say(f"but with probability at most {rounded_up_text(goal.delta)}, in which nothing is promised")
