"""Figures of tables, the report of the reproduction, and hints: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

LAYOUT = "tests/plots/test_layout.py::test_no_text_is_cut_off_and_no_two_overlap"
TABLES = "tests/plots/test_tables.py::"
REPORT = "tests/paper/report/test_page.py::"

SABOTAGES = [
    Sabotage(
        "titles of figures are not broken into lines",
        "plots/style.py",
        "text = wrap(figure, title, width - 2 * _INDENT)",
        "text = title",
        (f"{LAYOUT}[long name of a column]",),
    ),
    Sabotage(
        "names below points are as many as there are places",
        "plots/tables.py",
        "if (text_width(figure, names) + 0.15) * len(table) / step <= _ACROSS or len(places) <= 2:",
        "if names:",
        (f"{LAYOUT}[300 long]",),
    ),
    Sabotage(
        "many levels of text are not sorted by their counts",
        "plots/tables.py",
        'order = np.argsort(-table.count, kind="stable").tolist()',
        "order = list(range(len(table)))",
        (f"{TABLES}test_a_hundred_and_one_levels_of_text_are_bars_sorted_by_count_with_names_and_counts",),
    ),
    Sabotage(
        "a title hides that a table is not private",
        "plots/intervals.py",
        'return f"NOT PRIVATE: {title}" if title else "NOT PRIVATE"',
        'return title or "NOT PRIVATE"',
        (f"{TABLES}test_no_title_hides_that_a_table_is_not_private",),
    ),
    Sabotage(
        "the colour scale is not linear",
        "plots/tables.py",
        "norm = Normalize(0.0, grid.top)",
        "norm = mpl.colors.PowerNorm(0.5, 0.0, grid.top)",
        (f"{TABLES}test_the_colour_scale_is_linear_from_zero_and_says_where_it_ends",),
    ),
    Sabotage(
        "a figure does not say what its intervals cover",
        "plots/tables.py",
        'covers = one_line(shown.covers or "", 200)',
        'covers = ""',
        (f"{TABLES}test_what_the_intervals_cover_is_said[size0]",),
    ),
    Sabotage(
        "a full stop is taken into a power",
        "paper/report/typography.py",
        "(?:\\.[0-9]+)?",
        "[0-9.]*",
        (f"{REPORT}test_symbols_are_set[variance 2 b^2. So x^1.5.-variance 2 b<sup>2</sup>. So x<sup>1.5</sup>.]",),
    ),
    Sabotage(
        "the report leaves out the claims",
        "paper/report/page.py",
        "sections=sections,",
        "sections=[],",
        (f"{REPORT}test_verdicts_come_first",),
    ),
    Sabotage(
        "the report does not escape what it shows",
        "reports/html_page.py",
        "autoescape=True",
        "autoescape=False",
        (f"{REPORT}test_hostile_words_stay_words",),
    ),
    Sabotage(
        "hints for extras do not work from a clone",
        "errors.py",
        "pip install '.[{extra}]' in a clone of ggdp, or ",
        "",
        (
            "tests/test_errors.py::"
            "test_the_hint_for_an_extra_names_the_line_of_the_readme_and_one_for_other_directories[plots]",
        ),
    ),
]
