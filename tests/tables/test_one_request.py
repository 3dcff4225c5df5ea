"""What a request holds is declared once: signatures, flags, TOML keys, manifests and plans follow from its fields."""

from __future__ import annotations

import inspect
import json
from datetime import date, datetime
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from tests.golden.make import golden_file
from typer.testing import CliRunner

import ggdp
from ggdp import _validate
from ggdp._records import Flag, frozen, option, options, takes
from ggdp.cli import flags
from ggdp.cli.app import app
from ggdp.errors import ArgumentError
from ggdp.tables.request import TableRequest, TextOptions
from ggdp.tables.table_plan import TablePlan

PURE, APPROX = ggdp.PureDP(1.0), ggdp.ApproxDP(1.0, 1e-6)
DOMAIN = ggdp.Domain(
    {
        "ward": ["births", 'say "eyes"', "a\\b\n\x7f"],
        "rooms": [1, 2, 3],
        "race": {"levels": [1, 2], "labels": ["White", "Black"], "other": "Other"},
        "paid": [True, False],
        "day": [date(2024, 1, 1), date(2024, 1, 2)],
        "age": {"edges": [0, 18, 65.5, float("inf")], "labels": ["young", "old", "older"], "missing": "?"},
        "hour": {"edges": [datetime.fromisoformat("2024-01-01T12:30"), datetime.fromisoformat("2024-01-02")]},
        "month": {"edges": {"from": date(2024, 1, 1), "to": date(2024, 4, 1), "every": "month"}, "other": "later"},
        "cost of all": {"range": [0, 10], "step": 0.5},
        "debt": {"range": [-100, 100]},
    },
    impossible=[{"ward": "births", "rooms": 1}],
)
MEAN, QUANTILES = ggdp.Mean("debt"), ggdp.Quantile("cost of all", [0.25, 0.5])
REQUESTS = [
    TableRequest("ward", PURE, DOMAIN),
    TableRequest([["ward", "rooms"], ["day"]], APPROX, DOMAIN, unit="who", max_cells=3, count_cut=0.1),
    TableRequest(["age", "hour", "month"], ggdp.ProbabilisticDP(1.0, 1e-6), DOMAIN, order=2, nonnegative=True),
    TableRequest(["paid"], PURE, DOMAIN, neighbours="replace-one", total=100, encoding="iso8859-1", delimiter=";"),
    TableRequest(None, PURE, DOMAIN, statistics=[MEAN, QUANTILES], weights={"debt": 2}, strict_lines=True),
    TableRequest("rooms", PURE, DOMAIN, statistics=[MEAN], unit="who", max_cells=1, per_unit="max", unit_name="people"),
    TableRequest(["ward"], PURE, DOMAIN, unit="who", max_cells=1, count="rows", max_rows_per_cell=2, quoted=False),
    TableRequest(["ward", "day"], PURE, DOMAIN, false_cells=0.5, escape="\\"),
    TableRequest(["town"], APPROX, DOMAIN),
    TableRequest(["ward"], ggdp.ApproxDP(1.0, 0.0), DOMAIN),
    TableRequest(["ward"], ggdp.ProbabilisticDP(1.0, 0.0), DOMAIN),
    TableRequest(["ward"], ggdp.PureDP(1.0, "replace-one"), DOMAIN, neighbours="replace-one"),
    TableRequest(
        ["day", "rooms"],
        PURE,
        ggdp.Domain(
            {"day": {"levels": [date(2024, 1, 1)], "missing": "unknown"}, "rooms": [1, 2]},
            impossible=[{"day": "unknown", "rooms": 1}, {"day": date(2024, 1, 1), "rooms": 2}],
        ),
    ),
    TableRequest(["race"], PURE, DOMAIN),
]


@frozen
class _WithGreeting(TableRequest):
    """A copy of the record with one more field."""

    greeting: str | None = option(
        "str, optional",
        "What to say first.",
        Flag("Say this first.", "WORDS", label="Greeting"),
        check=_validate.words,
        key="unit.greeting",
    )


def test_a_field_that_is_added_is_a_keyword_a_flag_a_key_and_an_entry(tmp_path):
    @takes(_WithGreeting, TextOptions)
    def plan(by, goal, domain=None, **given):
        """Plan.

        {arguments}
        """
        return _WithGreeting(by, goal, domain, **given)

    assert inspect.signature(plan).parameters["greeting"].default is None
    assert "greeting : str, optional\n    What to say first." in plan.__doc__
    request = plan("ward", PURE, DOMAIN, greeting="hello")
    assert request.to_dict()["greeting"] == "hello"
    with pytest.raises(ArgumentError) as refused:
        plan("ward", PURE, DOMAIN, greeting=3)
    assert refused.value.argument == "greeting"

    file = tmp_path / "study.toml"
    file.write_text(request.to_toml(), "utf-8")
    assert '[unit]\ngreeting = "hello"\n' in file.read_text("utf-8")
    assert _WithGreeting.from_toml(file) == request

    found = {}
    (flag,) = options(_WithGreeting)["greeting"][1].flags
    command = flags.takes_flags([flag])(lambda **typed: found.update(typed))
    made = flags.typer.Typer(rich_markup_mode=None)
    made.command()(command)
    assert "Say this first." in CliRunner().invoke(made, ["--help"]).stdout
    assert CliRunner().invoke(made, ["--greeting", "hello"]).exit_code == 0
    everything = {flag.name: flag.default for flag in flags.RELEASE} | {"by": ["ward"], "epsilon": 1.0} | found
    assert flags.arguments_of(everything, _WithGreeting)["greeting"] == "hello"


def test_every_argument_of_the_functions_is_documented():
    for function in (ggdp.plan_table, ggdp.release_table, ggdp.check_table, ggdp.plan_range):
        names = [name for name in inspect.signature(function).parameters if name != "data"]
        assert len(names) > 10
        for name in names:
            assert f"\n{name} : " in function.__doc__, (function.__name__, name)
    assert "max_cells" in inspect.signature(ggdp.release_table).parameters
    assert list(inspect.signature(ggdp.check_table).parameters)[:3] == ["data", "by", "domain"]


@pytest.mark.parametrize("function", [ggdp.plan_table, ggdp.check_table])
def test_an_unknown_argument_is_a_type_error(function):
    arguments = {"by": "ward", "domain": {"ward": ["a"]}}
    first = [] if function is ggdp.plan_table else ["people.csv"]
    goal = {"goal": PURE} if function is ggdp.plan_table else {}
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_cell'"):
        function(*first, **arguments, **goal, max_cell=1)


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_request_reads_back_from_json_and_from_toml(request_, tmp_path):
    plain = json.loads(json.dumps(request_.to_dict()))
    again = TableRequest.from_dict(plain, request_.dates)
    assert again.to_dict() == request_.to_dict()
    assert again == evolve(request_, domain=again.domain)
    file = tmp_path / "study.toml"
    file.write_text(request_.to_toml(), "utf-8")
    assert TableRequest.from_toml(file) == request_


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_plan_reads_back(request_):
    files = {"out": Path("out/t.csv"), "plot": Path("t.svg")}
    for more in ({}, files, {"plot": files["plot"]}):
        plan = ggdp.tables.table_plan.plan_request(request_, **more)
        again = TablePlan.from_dict(json.loads(json.dumps(plan.to_dict())))
        assert again.to_dict() == plan.to_dict()
        assert (again.out, again.plot, again.mechanism.scale) == (plan.out, plan.plot, plan.mechanism.scale)


def test_a_plan_keeps_its_engine():
    plan = ggdp.tables.table_plan.plan_request(REQUESTS[0], engine="spark")
    assert TablePlan.from_dict(json.loads(json.dumps(plan.to_dict()))).engine == "spark"


@pytest.mark.parametrize("plain", [{}, None, [], {"request": {}}, {"request": {"by": 1}, "files": []}, "plan"])
def test_what_is_no_plan_is_refused(plain):
    with pytest.raises(ArgumentError) as refused:
        TablePlan.from_dict(plain)
    assert refused.value.argument == "plain"


def test_each_table_of_a_file_has_its_own_column(tmp_path):
    file = tmp_path / "study.toml"
    columns = "[columns.a]\nlevels = [1, 2]\n[columns.b]\nlevels = [1, 2]\n"
    file.write_text('epsilon = 1.0\n[[tables]]\nby = "a"\n[[tables]]\nby = "b"\n' + columns, "utf-8")
    assert TableRequest.from_toml(file).by == (("a",), ("b",))


def test_a_plan_that_was_changed_is_refused():
    plain = ggdp.tables.table_plan.plan_request(REQUESTS[0]).to_dict()
    for name, value in (("scale", 0.1), ("guarantee", {**plain["guarantee"], "epsilon": 0.5}), ("cells", 7)):
        with pytest.raises(ArgumentError) as refused:
            TablePlan.from_dict({**plain, name: value})
        assert refused.value.value == name


def test_every_request_that_was_published_reads_back():
    cases = json.loads(golden_file("releases").read_text("utf-8")).values()
    texts = ["\n".join(case["out.manifest.json"]) for case in cases if "out.manifest.json" in case]
    manifests = [found for text in texts if "table" in (found := json.loads(text))]
    assert len(manifests) >= 30
    for manifest in manifests:
        table = manifest["table"]
        columns = [column for one in table["tables"] for column in one["tableSchema"]["columns"]]
        dates = {column["name"] for column in columns if column["datatype"] == "date"}
        assert json.loads(json.dumps(TableRequest.from_dict(table["request"], dates).to_dict())) == table["request"]


@given(
    st.text(min_size=1).filter(lambda text: text not in ("count", "noisy_count", "lower", "upper")),
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, unique=True),
    st.floats(0.01, 10.0),
)
def test_any_names_levels_and_numbers_read_back_from_toml(tmp_path_factory, name, levels, epsilon):
    try:
        request = TableRequest([name], ggdp.PureDP(epsilon), {name: levels})
    except ArgumentError:
        return
    file = tmp_path_factory.mktemp("study") / "study.toml"
    file.write_text(request.to_toml(), "utf-8", newline="")
    assert TableRequest.from_toml(file) == request


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epsilon = 1.0", "needs a section [[tables]]"),
        ('[[tables]]\nby = ["ward"]', "needs a key epsilon"),
        ('epsilon = 1.0\nnotion = "sure"\n[[tables]]\nby = ["ward"]', "line 2: notion = 'sure': must be one of"),
        ('epsilon = 1.0\nmax_cell = 3\n[[tables]]\nby = ["ward"]', "line 2: max_cell = 3: is not a key"),
        (
            'epsilon = 1.0\n[[tables]]\nby = ["ward"]\nmode = "x"',
            "line 4: tables.mode = 'x': is not a key",
        ),
        (
            "epsilon = 1.0\n[[tables]]\nby = 3",
            "line 3: tables.by = 3: must be a list of columns",
        ),
    ],
)
def test_a_file_that_is_no_request_says_why(tmp_path, text, said):
    file = tmp_path / "study.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ArgumentError) as refused:
        TableRequest.from_toml(file)
    assert said in str(refused.value)


def test_the_same_error_is_in_the_words_of_each_door(tmp_path, monkeypatch):
    from ggdp.explorer.typed_table import TypedTable

    monkeypatch.chdir(tmp_path)
    asked = {"by": "ward", "goal": PURE, "domain": {"ward": ["a", "b"]}, "unit": "who"}
    with pytest.raises(ArgumentError) as python:
        ggdp.plan_table(**asked)
    assert (python.value.argument, str(python.value)[:40]) == ("unit", "unit = 'who': needs `max_cells`: in how ")
    typed = ["release", "v.csv", "--by", "ward", "--levels", "ward=a,b", "--unit", "who", "--epsilon", "1", "--dry-run"]
    with pytest.raises(ArgumentError) as command:
        CliRunner().invoke(app, typed, catch_exceptions=False)
    assert str(command.value).startswith("--unit = 'who': needs --max-cells: in how")
    with pytest.raises(ggdp.GgdpError) as form:
        TypedTable(by="ward", levels="ward=a,b", unit="who").plan()
    assert str(form.value).startswith("Unit = 'who': needs Cells per unit: in how")
