"""The numbers on the pages about benchmarks and other libraries are those of the last run of `make bench`."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = {page.stem: page.read_text("utf-8") for page in (ROOT / "benchmarks" / "results").glob("*.md")}
PAGE = (ROOT / "docs" / "explanation" / "benchmarks.md").read_text("utf-8")
COMPARISON = (ROOT / "docs" / "explanation" / "comparison.md").read_text("utf-8")
QUOTED = re.findall(r"^\| `(\w+)` \| (.+) \| (\S+) \|$", PAGE, re.MULTILINE)


def row(page, name):
    """Return the cells of the first row of that name on a page of results."""
    found = next(line for line in RESULTS[page].splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in found.strip("|").split("|")][1:]


@pytest.mark.parametrize(("page", "name", "measured"), QUOTED)
def test_a_number_is_that_of_the_run(page, name, measured):
    assert any(cell.split(" ")[0] == measured for cell in row(page, name)), row(page, name)


def test_the_table_has_every_comparison():
    assert len(QUOTED) >= 10
    assert {page for page, _, _ in QUOTED} >= {"calibration", "sampling", "tables", "means", "composition", "ledger"}


def test_every_page_of_results_is_described():
    assert set(re.findall(r"^- \*\*(\w+)\*\*", PAGE, re.MULTILINE)) == set(RESULTS)


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("OpenDP", "opendp"),
        ("Tumult Analytics", "tmlt.analytics"),
        ("PipelineDP", "pipeline-dp"),
        ("diffprivlib", "diffprivlib"),
        ("dp-accounting", "dp-accounting"),
        ("prv-accountant", "prv-accountant"),
    ],
)
def test_the_versions_are_those_that_were_run(name, package):
    version = re.search(rf"^\| {name} \| ([\d.]+)", COMPARISON, re.MULTILINE)[1]
    assert any(f"{package} {version}" in text for text in RESULTS.values())


def test_what_was_measured_of_others():
    missed = {name: row("calibration", name)[0] for name in ("ggdp", "dp-accounting", "diffprivlib")}
    shown = {name: said.removesuffix(" of 42") for name, said in missed.items()}
    assert (
        f"| {shown['ggdp']} | dp-accounting {shown['dp-accounting']}, diffprivlib {shown['diffprivlib']} |"
        in COMPARISON
    )
    ours, theirs = row("tables", "ggdp")[0], row("tables", "OpenDP, public keys")[0]
    assert f"| {ours} ms | OpenDP {theirs} ms, with the same public keys |" in COMPARISON
    errors = {
        library: 1 / float(row("means", f"epsilon 1: all tables, error over that of {library}")[1].split()[0])
        for library in ("OpenDP", "PipelineDP")
    }
    assert f"| 1 | OpenDP {errors['OpenDP']:.1f}, PipelineDP {errors['PipelineDP']:.1f} |" in COMPARISON
    rates, ratios = RESULTS["sampling"].split("### Times OpenDP")
    rate = float(re.search(r"### Million draws a second.*?^\| 10 \| (\d+) \|", rates, re.DOTALL | re.MULTILINE)[1])
    times = float(re.search(r"^\| 10 \| ([\d,]+) \|", ratios, re.MULTILINE)[1].replace(",", ""))
    assert f"| {rate:.0f} million | OpenDP {rate / times:.3f} million |" in COMPARISON
    seconds = row("composition", "1,000 releases of 20 laws, mixed")
    assert f"| {seconds[0]} s, both bounds proved | dp-accounting {seconds[2]} s, one estimate |" in COMPARISON


def test_the_readme_says_no_more_than_was_measured():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "over 250 million draws a second" in readme
    least = re.search(r"^\| 1 \| \d+ \((\d+)\)", RESULTS["sampling"], re.MULTILINE)[1]
    assert int(least) > 250
    assert "10^13 cells takes 1.2 times as long" in readme
    assert float(row("tables", "a sparse release of 1.944e+13 cells over DuckDB's plain count")[1]) <= 1.2
