"""The numbers of the page on budgets."""

from tests.ledger.adaptive import delta_of, response, worst_delta

PAGES = ["explanation/theory/ledger.md"]
EPSILON, DELTA = 0.5, 0.02
LAWS = [response(0.2), response(0.0, DELTA)]


def test_the_example_of_the_composed_total_has_these_numbers(says):
    up = response(0.2)[0][0]
    worst = worst_delta(
        LAWS, lambda used: delta_of([LAWS[place] for place in used], EPSILON) <= DELTA + 1e-15, EPSILON, 3
    )
    says("ledger-three-responses", delta_of([LAWS[0]] * 3, EPSILON))
    says("ledger-both-up", up**2)
    says("ledger-excess", worst / DELTA)


def test_every_marked_number_is_tested(untested):
    assert untested == set()
