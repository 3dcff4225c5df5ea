import copy
import csv
import dataclasses
import html
import io
import json
import re
from collections import Counter
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from ggdp.errors import ArgumentError, DatasetError
from ggdp_reproduction import reproduction
from ggdp_reproduction.claims.verdicts import short
from ggdp_reproduction.report import WRITTEN, as_html, documents, errata, report_html
from ggdp_reproduction.reproduction import reproduce
from ggdp_reproduction.results import Claim, Results

CSS = files("ggdp_reproduction").joinpath("templates", "report.css").read_text(encoding="utf-8")
ALONE = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """The elements of a page, once it is well formed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="session")
def text(results):
    return report_html(results, ["claims.json", "counts.csv"])


@pytest.fixture(scope="session")
def page(text):
    return Page(text)


def test_the_page_is_well_formed_and_its_links_lead_somewhere(page):
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(names) == len(set(names))
    links = {attributes["href"] for attributes in page.all("a")}
    assert {link[1:] for link in links if link.startswith("#")} <= set(names)
    assert {link for link in links if not link.startswith("#")} == {"claims.json", "counts.csv"}
    assert len(page.all("h1")) == 1


def test_the_page_loads_nothing(text, page):
    assert not re.search(r"https?://|@import|url\((?!#)", text)
    assert not any("src" in attributes for _, attributes in page.elements)
    assert page.all("link") == []
    policy = next(a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")


def test_tables_have_headers_with_a_scope(page):
    assert page.all("table")
    assert len(page.all("caption")) >= 4
    assert all(attributes.get("scope") in ("col", "row", "rowgroup") for attributes in page.all("th"))


def test_every_claim_has_its_badge_and_a_link_to_its_figure(results, text):
    for claim in results.claims:
        item = text[text.index(f'<li id="claim-{claim.key}">') :]
        item = item[: item.index("</li>")]
        assert f"</span> {claim.verdict}</span>" in item
        assert claim.figure is None or f'href="#figure-{claim.figure}"' in item


def test_verdicts_come_first(text):
    sections = re.findall(r'<section id="([a-z-]+)"', text)
    assert sections[:3] == ["summary", "not-standing", "claims"]
    contents = text[text.index('<nav class="contents"') : text.index("</nav>")]
    places = [contents.index(f'href="#{section}"') for section in sections]
    assert places == sorted(places)


def test_long_tables_and_the_claims_are_folded_and_found_by_links(text):
    for start in ("<strong>Mildew:</strong>", "<strong>Accuracy on", '<td data-name="printed">', '<ol class="claims">'):
        before = text[: text.index(start)]
        assert before.count("<details") == before.count("</details>") + 1, start
    assert "<details open" not in text
    # What does not hold is not folded, and a link to a claim opens its fold.
    before = text[: text.index('<section id="not-standing">')]
    assert before.count("<details") == before.count("</details>")
    assert 'addEventListener("hashchange", unfold)' in text


def test_a_fold_of_claims_counts_their_verdicts(results, text):
    for number in "2345":
        fold = text[text.index(f'<details class="fold" id="claims-{number}">') :]
        summary = fold[: fold.index("</summary>")]
        verdicts = Counter(claim.verdict for claim in results.claims if claim.section == f"Section {number}")
        assert {name: int(count) for name, count in re.findall(r"</span> ([a-z ]+): (\d+)</span>", summary)} == verdicts


def test_files_are_linked_where_they_are_named(results):
    written = documents(results)
    page = Page(written["report.html"].decode())
    links = {attributes["href"] for attributes in page.all("a")}
    assert {link for link in links if not link.startswith("#")} == set(written) - {"report.html"}
    captions = re.findall(r"<figcaption>.*?</figcaption>", written["report.html"].decode())
    linked = [name for caption in captions for name in re.findall(r'href="(figure-[a-z-]+\.(?:csv|svg))"', caption)]
    assert sorted(linked) == sorted(name for name in written if name.startswith("figure-"))


def cells(text, start):
    """The texts of the cells of a table, column by column."""
    table = text[text.index(start) :]
    table = table[table.index("<tbody>") : table.index("</table>")]
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)]
    return list(zip(*(row for row in rows if row), strict=True))


@pytest.mark.parametrize("name", ["Mildew", "Czech autoworkers", "Adult"])
def test_the_numbers_of_a_column_are_aligned_on_their_points(text, name):
    for column in cells(text, f"<strong>{name}:</strong>"):
        for part in (r"^(.*?)<small>", r"<small>(.*?)</small>"):
            found = [re.sub(r"<.*?>", "", re.search(part, cell)[1]) for cell in column]
            assert len(found) > 30
            # From the point of the first number to the end of the cell all are as wide.
            assert len({len(number) - re.search(r"[.]\d| ±", number).start() for number in found}) == 1
            # And so from the point of the second.
            assert len({len(number.rpartition(".")[2]) for number in found if "." in number}) <= 1


def test_the_table_of_accuracies_tells_changes_with_their_sign_and_no_negative_loss(results, text):
    columns = cells(text, "<strong>Accuracy on")
    changes = [re.search(r"<small>(.*?)</small>", cell)[1] for column in columns for cell in column if cell != "–"]
    assert all(re.fullmatch(r"[+−]\d+\.\d\d|0\.00", change) for change in changes)
    assert set(changes) != {"0.00"}
    (laplace,) = [row for row in results.svm.summary() if (row["sanitiser"], row["epsilon"]) == ("laplace", 0.5)]
    shown = float(changes[0].replace("−", "-"))
    assert shown == pytest.approx(100 * (laplace["accuracy_mean"] - results.svm.original_accuracy), abs=0.005)
    assert not re.search(r"[Ll]oss(es)?[^.]{0,80}[-−]\d", text[text.index("<main>") :])


def test_no_power_ends_in_a_full_stop(text):
    assert re.search(r"b<sup>2</sup>\.", text)
    assert not re.search(r"\.</su[bp]>", text)


def test_rows_outside_the_domain_are_marked(text):
    table = text[text.index("<strong>Mildew:</strong>") :]
    table = table[: table.index("</table>")]
    groups = re.split(r'<th scope="rowgroup"[^>]*>ε = ', table)[1:]
    marked = {group.split("<")[0]: "†" in group for group in groups}
    assert marked == {"0.1": False, "0.5": False, "1": True, "2": True}


def test_the_total_is_marked_where_a_release_could_not_have_it(text):
    rows = re.findall(r'<th scope="row">(.*?)</th><td class="words">(.*?)</td>', text)
    assert len(rows) > 50
    for name, adjustment in rows:
        assert ("‡" in name) == (adjustment != "clip at 0" and "replace-one" not in name)


def test_the_adult_part_says_at_every_turn_that_it_is_not_private(text):
    part = text[text.index('id="data-adult"') : text.index('<section id="errata"')]
    said = "not differentially private, for reproduction only"
    assert all(said in caption.lower() for caption in re.findall(r"<caption>.*?</caption>", part, re.DOTALL))
    assert all(said in caption.lower() for caption in re.findall(r"<figcaption>.*?</figcaption>", part, re.DOTALL))
    assert said in part[: part.index("</h3>")]
    assert said in text[: text.index('<section id="theory"')]
    contents = text[text.index('<nav class="contents"') : text.index("</nav>")]
    assert said in contents[contents.index("#data-adult") :].split("</li>")[0]
    for item in re.findall(r'<li id="claim-(?:adult|svm|non-empty-cells).*?</li>', text, re.DOTALL):
        assert said in item.lower()


def test_the_adult_files_say_so_too(results):
    said = "not differentially private, for reproduction only"
    found = documents(results)
    for name in ("svm.csv", "figure-adult-counts.csv"):
        rows = list(csv.DictReader(io.StringIO(found[name].decode())))
        assert rows
        assert all(said in row["private"] for row in rows)
    counts = list(csv.DictReader(io.StringIO(found["counts.csv"].decode())))
    assert all(said in row["private"] for row in counts if row["dataset"] == "adult")
    claims = {claim["key"]: claim["caveat"] for claim in json.loads(found["claims.json"])}
    assert {claims["adult-rows"], claims["svm-barely"], claims["adult-winner"]} == {said}
    assert claims["mildew-winner"] is None
    assert any(said in note for note in results.notes)


def test_hostile_words_stay_words():
    found = Results(what="figures", quick=True, seed=0, repeats=2, svm_repeats=1)
    found.claims = [
        Claim(key="k", place="Section 2", claim="<script>x</script>", verdict="holds", measured="a < b & c")
    ]
    found.notes = ["<img src=x>"]
    written = report_html(found)
    assert "<script>x" not in written
    assert "<img" not in written
    assert "a &lt; b &amp; c" in written


def colours(block):
    return dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6});", block))


def luminance(colour):
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, two):
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


LIGHT = colours(CSS[CSS.index(":root {") : CSS.index("}")])
DARK = colours(CSS[CSS.index(':root[data-theme="dark"]') : CSS.index("@media")])
PRINT = colours(CSS[CSS.index("@media print") :])


@pytest.mark.parametrize("theme", [LIGHT, DARK, PRINT], ids=["light", "dark", "print"])
def test_words_can_be_read_in_every_theme(theme):
    for ground in ("--ground", "--wash"):
        for ink in ("--ink", "--quiet", "--link"):
            assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)
    for name in ("yes", "part", "no", "none"):
        assert contrast(theme[f"--{name}"], theme[f"--{name}-wash"]) >= 4.5, name
        assert contrast(theme[f"--{name}"], theme["--ground"]) >= 4.5, name


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_curves_can_be_told_from_the_ground(theme):
    for name in ("--blue", "--vermilion", "--green", "--purple"):
        assert contrast(theme[name], theme["--ground"]) >= 3.0, name


def test_the_style_sheet_is_whole():
    """Every rule is closed, and on a phone the cells of the errata stand below one another."""
    assert CSS.count("{") == CSS.count("}")
    phone = CSS[CSS.index("@media (max-width: 44rem)") : CSS.index("@media print")]
    rule = re.search(r"\.errata table, ([^{]*)\{([^}]*)\}", phone)
    assert ".errata td," in rule[1]
    assert "display: block" in rule[2]


def test_the_dark_theme_is_the_same_by_choice_and_by_system():
    system = CSS[CSS.index("@media (prefers-color-scheme: dark)") :]
    assert colours(system[: system.index("*, *::before")]) == DARK
    assert set(DARK) == set(LIGHT)


@pytest.mark.parametrize(
    ("words", "marked"),
    [
        ("epsilon_2 : epsilon_1", "ε<sub>2</sub> : ε<sub>1</sub>"),
        ("at (1, 1e-06)", "at (1, 10<sup>−6</sup>)"),
        ("-4 +- 1.2", "−4 ± 1.2"),
        ("2.5e-10", "2.5 × 10<sup>−10</sup>"),
        ("2 Phi(-sqrt 2)", "2 Φ(−√2)"),
        ("b^(1/p) <= delta", "b<sup>1/p</sup> ≤ δ"),
        ("-||s* - s||_p^p", "−||s* − s||<sub>p</sub><sup>p</sup>"),
        ("epsilon-DP, replace-one, sum_k x", "ε-DP, replace-one, Σ<sub>k</sub> x"),
        ("Q^-1(1/p, delta)", "Q<sup>−1</sup>(1/p, δ)"),
        ("variance 2 b^2. So x^1.5.", "variance 2 b<sup>2</sup>. So x<sup>1.5</sup>."),
        ("at most 1e-05. And 10^-5.", "at most 10<sup>−5</sup>. And 10<sup>−5</sup>."),
    ],
)
def test_symbols_are_set(words, marked):
    assert as_html(words) == marked


def test_files_hold_all_numbers_and_read_back_exactly(results):
    found = documents(results)
    assert {"report.html", "claims.json", "counts.csv", "svm.csv", "figure-lower-bounds.csv"} <= set(found)
    rows = list(csv.DictReader(io.StringIO(found["counts.csv"].decode())))
    assert len(rows) == sum(len(run.rows) for run in results.counts.values())
    assert [float(row["l1_mean"]) for row in rows] == [
        row["l1_mean"] for r in results.counts.values() for row in r.rows
    ]
    assert {row["sanitiser"] for row in rows if row["delta"] == ""} >= {"laplace", "integer-laplace"}
    claims = json.loads(found["claims.json"])
    assert [claim["key"] for claim in claims] == [claim.key for claim in results.claims]
    assert all({"claim", "verdict", "measured"} <= set(claim) for claim in claims)


def test_the_prior_and_the_direction_of_the_divergence_are_told(results, text):
    found = documents(results)
    rows = list(csv.DictReader(io.StringIO(found["counts.csv"].decode())))
    assert {(row["prior"], row["kl_direction"]) for row in rows} == {("0.5", "KL(original || sanitised)")}
    assert "KL(original ‖ sanitised)" in text
    assert "prior of 0.5" in text


def test_facts_hold_what_the_tables_do_not(results):
    rows = csv.DictReader(io.StringIO(documents(results)["facts.csv"].decode()))
    facts = {(row["about"], row["fact"]): row["value"] for row in rows}
    assert facts["czech", "n"] == "1841"
    assert facts["divergence", "prior"] == "0.5"
    assert facts["czech", "repeats"] == facts["adult", "repeats"] == "40"
    assert int(facts["adult", "train"]) == results.adult["train"]
    product = 1
    for (about, fact), value in facts.items():
        if about == "adult" and fact.startswith("bins_"):
            product *= int(value)
    assert float(facts["adult", "bins"]) == product
    assert ("version", "numpy") in facts


def test_no_file_has_a_name_that_a_later_run_would_not_know(results):
    assert set(documents(results)) == set(WRITTEN)


def plain(text):
    """Return a cell of the documentation as the list of errata has it."""
    for latex, sign in (
        (r"\Phi^{-1}(\delta/2)", "Φ⁻¹(δ/2)"),
        ("c_0", "c₀"),
        ("c_1", "c₁"),
        ("q_k", "qₖ"),
        (" - ", " − "),
        ("$", ""),
        ("`", ""),
    ):
        text = text.replace(latex, sign)
    return text.strip()


def test_the_errata_are_those_of_the_documentation_and_all_in_the_page(text):
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "errata.md").read_text(encoding="utf-8")
    table = page[page.index("## Formulas") : page.index("What they amount to")]
    # Rows begin with the place; the head of the table comes first.
    cells = re.findall(r"^\* - (.*?)\n  - ", table, re.MULTILINE | re.DOTALL)
    places = [plain(" ".join(cell.split())) for cell in cells][1:]
    assert [one["place"] for one in errata()] == places
    section = html.unescape(text[text.index('<section id="errata"') : text.index('<section id="making"')])
    assert all(words in section for one in errata() for words in one.values())


def test_the_summary_counts_what_was_measured(results, text):
    open_ = sum(claim.verdict in ("not measured", "not measurable") for claim in results.claims)
    assert f"{len(results.claims) - open_} were measured" in text or (not open_ and "all were measured" in text)


def test_the_printed_command_has_every_flag_that_matters(results):
    again = copy.copy(results)
    again.adult_file = "my adult.data"
    line = "ggdp reproduce all --quick --repeats 40 --svm-repeats 1 --adult 'my adult.data' --seed 0 --out DIR"
    assert line in html.unescape(report_html(again))
    again.prior = 1.0
    assert "prior=1" in report_html(again)


def test_tables_of_64_cells_have_20000_repeats_unless_it_says_otherwise():
    def repeats(**asked):
        run = Results(what="all", seed=0, svm_repeats=1, **asked)
        return [run.repeats_of(name) for name in ("mildew", "czech", "adult")]

    assert repeats(quick=False, repeats=None) == [20_000, 20_000, 500]
    assert repeats(quick=True, repeats=None) == [20, 20, 20]
    assert repeats(quick=False, repeats=7) == repeats(quick=True, repeats=7) == [7, 7, 7]


def test_the_report_names_the_repeats_of_each_data_set(results):
    whole = html.unescape(report_html(dataclasses.replace(results, quick=False, repeats=None)))
    assert "20,000 (mildew), 20,000 (czech), 500 (adult)" in whole
    assert "ggdp reproduce all --svm-repeats 1 --seed 0 --out DIR" in whole


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [(99.7, 2, "100"), (100.0, 2, "100"), (1000.0, 3, "1,000"), (19641.3, 3, "19,641"), (0.0123, 2, "0.012")],
)
def test_large_numbers_are_written_out(value, digits, shown):
    assert short(value, digits) == shown


@pytest.mark.exhaustive
def test_the_least_number_of_repeats_makes_a_whole_report(monkeypatch):
    monkeypatch.setattr(reproduction, "judge", lambda *_: [])
    found = reproduce("mildew", quick=True, repeats=2, workers=1, epsilons=[1.0], deltas=[0.05])
    # Two repeats of integer noise may be alike.
    found.counts["mildew"].rows[0]["l1_sd"] = 0.0
    Page(report_html(found))
    for run in found.counts.values():
        for row in run.rows:
            row["l1_sd"] = 0.0
    assert "standard errors from closed forms" not in report_html(found)


@pytest.mark.usefixtures("formulas_known")
def test_other_goals_and_another_prior_can_be_asked_for(monkeypatch):
    monkeypatch.setattr(reproduction, "sanitisers_for", lambda _: reproduction.PAPER)
    found = reproduce("mildew", quick=True, repeats=3, workers=1, epsilons=[0.3], deltas=[0.02], prior=1)
    rows = found.counts["mildew"].rows
    assert {row["epsilon"] for row in rows} == {0.3}
    assert {row["delta"] for row in rows} == {None, 0.02}
    assert all(claim.verdict == "not measured" for claim in found.claims if claim.key == "mildew-winner")
    assert any("other privacy parameters" in note for note in found.notes)
    Page(report_html(found))
    monkeypatch.setattr(reproduction, "count_drawings", lambda *_: [])
    usual = reproduce("mildew", quick=True, repeats=3, workers=1, epsilons=[0.3], deltas=[0.02]).counts["mildew"].rows
    assert [row["l1_mean"] for row in usual] == [row["l1_mean"] for row in rows]
    assert [row["kl_mean"] for row in usual] != [row["kl_mean"] for row in rows]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("formulas_known")
def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(monkeypatch):
    def files(seed, workers):
        return documents(reproduce("mildew", quick=True, repeats=3, seed=seed, workers=workers))

    monkeypatch.setattr(reproduction, "sanitisers_for", lambda _: reproduction.PAPER)
    first = files(5, 1)
    assert first == files(5, 2)
    monkeypatch.setattr(reproduction, "count_drawings", lambda *_: [])
    assert first["counts.csv"] != files(6, 1)["counts.csv"]


def no_data(*_, **__):
    raise DatasetError("the adult data could not be loaded. no network")


@pytest.mark.usefixtures("formulas_known")
def test_without_the_adult_data_the_rest_is_run_and_the_report_says_why(monkeypatch, bounds):
    monkeypatch.setattr("ggdp_reproduction.adult_data.adult", no_data)
    monkeypatch.setattr(reproduction, "sanitisers_for", lambda _: reproduction.PAPER)
    monkeypatch.setattr(reproduction, "lower_bounds", lambda **_: bounds())
    monkeypatch.setattr(reproduction, "theory_drawings", lambda _: [])
    monkeypatch.setattr(reproduction, "count_drawings", lambda *_: [])
    found = reproduce("all", quick=True, repeats=2, workers=1)
    assert set(found.counts) == {"mildew", "mildew-26", "czech"}
    assert "no network" in report_html(found)


def test_the_adult_data_asked_for_by_name_are_needed(monkeypatch):
    monkeypatch.setattr("ggdp_reproduction.adult_data.adult", no_data)
    with pytest.raises(DatasetError, match="no network"):
        reproduce("adult", quick=True)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("what", {"what": "everything"}),
        ("seed", {"seed": -1}),
        ("repeats", {"repeats": 1}),
        ("svm_repeats", {"svm_repeats": 0}),
        ("workers", {"workers": 0}),
        ("epsilons", {"epsilons": []}),
        ("epsilons", {"epsilons": [0.0]}),
        ("deltas", {"deltas": [1.0]}),
        ("prior", {"prior": -1.0}),
        ("adult_path", {"what": "adult", "adult_path": Path("/nowhere/adult.data")}),
    ],
)
def test_wrong_arguments_are_named(name, arguments):
    with pytest.raises(ArgumentError, match=f"^{name} = "):
        reproduce(**{"what": "mildew"} | arguments)


def test_a_report_of_claims_alone_is_whole(results):
    alone = copy.copy(results)
    alone.drawings, alone.counts, alone.svm = [], {}, None
    Page(report_html(alone))
