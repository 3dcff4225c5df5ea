import csv
import io
import json
import subprocess
import sys

import pytest

import ggdp
from ggdp.cli.app import run


@pytest.fixture
def ggdp_cli(capsys):
    """Run a command line and return (exit code, standard output, standard error)."""

    def call(line):
        code = run(line.split())
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_json_is_one_document_that_reads_back_exactly(ggdp_cli):
    code, out, err = ggdp_cli("calibrate --order 3 --epsilon 1 --delta 1e-6 --json")
    document = json.loads(out)
    expected = ggdp.calibrate(ggdp.ApproxDP(1, 1e-6), ggdp.Sensitivity.disjoint(1), order=3)
    assert (code, err) == (0, "")
    assert document["scale"] == expected.scale
    assert document["std"] == expected.std
    assert document["mean_abs"] == expected.mean_abs
    assert document["support"] == "real"
    assert document["bounding"] is None
    assert document["method"] == "tight"
    assert document["goal"] == {"notion": "approximate", "epsilon": 1.0, "delta": 1e-6, "neighbours": "add-remove"}
    assert document["guarantee"]["delta"] <= 1e-6
    ggdp.verify(document["certificate"])


def test_without_delta_the_goal_is_pure(ggdp_cli):
    _, out, _ = ggdp_cli("calibrate --order 1 --epsilon 0.5 --sensitivity 3 --json")
    document = json.loads(out)
    assert document["goal"]["notion"] == document["guarantee"]["notion"] == "pure"
    assert document["scale"] == 6.0


def test_the_notion_can_be_chosen(ggdp_cli):
    _, out, _ = ggdp_cli("calibrate --order 2 --epsilon 1 --delta 0.05 --notion probabilistic --json")
    assert json.loads(out)["guarantee"]["notion"] == "probabilistic"


def test_max_cells_counts_cells_of_one_unit_and_doubles_under_replace_one(ggdp_cli):
    _, out, _ = ggdp_cli("calibrate --order 2 --epsilon 1 --delta 0.05 --max-cells 1 --neighbours replace-one --json")
    document = json.loads(out)
    assert f"{document['scale']:.4f}" == "2.6656"
    assert document["guarantee"]["neighbours"] == "replace-one"


def test_bounds_and_boxes_are_read(ggdp_cli):
    line = "calibrate --order 2 --epsilon 1 --box 1,2 --bounds -5:5,0:20 --bounding boundary-inflated --json"
    _, out, _ = ggdp_cli(line)
    document = json.loads(out)
    expected = ggdp.calibrate(
        ggdp.PureDP(1),
        ggdp.Sensitivity.box([1, 2]),
        order=2,
        bounds=[(-5, 5), (0, 20)],
        bounding="boundary-inflated",
    )
    assert document["scale"] == expected.scale
    assert document["bounds"] == [[-5.0, 5.0], [0.0, 20.0]]
    assert document["bounding"] == "boundary-inflated"


@pytest.mark.parametrize(
    "flags",
    [
        "--max-cells 2 --epsilon 1 --delta 1e-3 --order 3",
        "--box 1,0.1 --epsilon 1 --delta 0.05 --order 3 --notion probabilistic",
    ],
)
def test_a_proof_on_a_grid_shows_its_step(ggdp_cli, flags):
    code, out, _ = ggdp_cli(f"calibrate {flags}")
    assert code == 0
    assert "grid of step" in " ".join(out.split())


def test_the_table_for_people_shows_scale_guarantee_and_proof(ggdp_cli):
    code, out, err = ggdp_cli("calibrate --order 1 --epsilon 1 --support integer")
    assert (code, err) == (0, "")
    for word in ("scale", "1.0", "1-DP under add-remove neighbours", "Laplace noise", "integer"):
        assert word in out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("calibrate --order 2 --epsilon 0 --delta 0.1", "epsilon = 0.0: must be greater than 0"),
        ("calibrate --order 2 --epsilon nan --delta 0.1", "--epsilon = nan: must be finite"),
        ("calibrate --order 2 --epsilon inf --delta 0.1", "--epsilon = inf: must be finite"),
        ("calibrate --order 2 --epsilon 1 --delta 1", "--delta = 1.0: must be at least 0 and below 1"),
        ("calibrate --order 2 --epsilon 1 --delta -0.1", "--delta = -0.1: must be at least 0 and below 1"),
        ("calibrate --order 0.5 --epsilon 1", "--order = 0.5: must be at least 1"),
        ("calibrate --order 2 --epsilon 1 --delta 0.1 --sensitivity -1", "--sensitivity = -1.0"),
        ("calibrate --order 2 --epsilon 1 --delta 0.1 --box ,", "--box = ','"),
        ("calibrate --order 2 --epsilon 1 --delta 0.1 --max-cells 0", "--max-cells = 0"),
        ("calibrate --order 2 --epsilon 1", "pure DP (delta = 0) does not exist"),
        ("calibrate --order 2 --epsilon 1 --bounds 1:0 --bounding truncated", "--bounds = (1.0, 0.0)"),
        ("calibrate --order 2 --epsilon 1 --bounds 0:0.5 --bounding truncated", "narrower than the sensitivity"),
        ("calibrate --order 2 --epsilon 1 --bounds 0 --bounding truncated", "--bounds = '0'"),
        ("calibrate --order 2 --epsilon 1 --delta 0.1 --sensitivity 0.5 --support integer", "--sensitivity = 0.5"),
        ("calibrate --order 2 --epsilon 1 --delta 0.1 --neighbours replace-one", "Sensitivity.histogram"),
        ("calibrate --order 2 --epsilon 1 --notion approximate", "--delta = None"),
        ("calibrate --order 1 --epsilon 1 --delta 0.1 --notion pure", "--delta = 0.1"),
        ("calibrate --order 1 --epsilon 1e-10 --sensitivity 1e308", "leave the 64-bit floats"),
        ("calibrate --order 3 --epsilon 1 --delta 0.1 --max-cells 100000000", "at most 100,000,000 coordinates"),
        ("calibrate --order 2 --epsilon 1 --bounds 0:1e300 --bounding truncated", "--bounds = "),
        ("calibrate --order 2 --epsilon 1 --delta 0.1 --box 1 --sensitivity 1", "--box = '1'"),
    ],
)
def test_bad_values_are_one_line_of_error_and_exit_1(ggdp_cli, line, message):
    code, out, err = ggdp_cli(line)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    "line", ["frob", "calibrate", "calibrate --order x --epsilon 1", "calibrate --order 1 --epsilon 1 --notion odd"]
)
def test_wrong_usage_is_one_line_of_error_and_exit_2(ggdp_cli, line):
    code, out, err = ggdp_cli(line)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")


def test_help_and_version_work(ggdp_cli):
    assert "calibrate" in ggdp_cli("")[1]
    assert "--bounding" in ggdp_cli("calibrate --help")[1]
    assert ggdp_cli("--version")[1].strip() == ggdp.__version__


def test_the_module_runs_as_a_program_without_a_traceback():
    done = subprocess.run(
        [sys.executable, "-m", "ggdp", "calibrate", "--order", "2", "--epsilon", "-1"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "error: --epsilon = -1.0: must be greater than 0\n"


def test_several_orders_are_a_table_a_csv_file_or_a_list(ggdp_cli):
    line = "calibrate --order 1,2,3 --epsilon 1 --delta 1e-6"
    expected = [
        ggdp.calibrate(ggdp.ApproxDP(1, 1e-6), ggdp.Sensitivity.disjoint(1), order=order) for order in (1, 2, 3)
    ]
    _, out, _ = ggdp_cli(f"{line} --json")
    assert json.loads(out) == {"calibrations": [json.loads(json.dumps(one.to_dict())) for one in expected]}
    code, out, err = ggdp_cli(f"{line} --csv")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [float(row["scale"]) for row in rows] == [one.scale for one in expected]
    assert [float(row["delta"]) for row in rows] == [one.guarantee.delta for one in expected]
    assert {row["neighbours"] for row in rows} == {"add-remove"}
    _, out, _ = ggdp_cli(line)
    assert all(repr(one.scale) in out for one in expected)
    assert "(1, 1e-06)-aDP under add-remove neighbours, certified" in out


def test_one_order_is_a_csv_file_of_one_line(ggdp_cli):
    _, out, _ = ggdp_cli("calibrate --order 2 --epsilon 1 --delta 1e-6 --csv")
    assert out.splitlines()[0] == "order,scale,std,mean_abs,notion,epsilon,delta,neighbours"
    assert len(out.splitlines()) == 2


def test_an_order_without_a_proof_leaves_no_part_of_the_table(ggdp_cli):
    code, out, err = ggdp_cli("calibrate --order 1,2 --epsilon 1 --csv")
    assert (code, out) == (1, "")
    assert "does not exist for unbounded noise of order = 2.0" in err


def test_a_norm_is_read(ggdp_cli):
    _, out, _ = ggdp_cli("calibrate --order 2 --epsilon 1 --delta 1e-6 --norm 2,0.5,10 --json")
    norm = ggdp.Sensitivity.norm(2, 0.5, dimension=10)
    assert json.loads(out)["scale"] == ggdp.calibrate(ggdp.ApproxDP(1, 1e-6), norm, order=2).scale
    _, out, _ = ggdp_cli("calibrate --order 1 --epsilon 1 --norm inf,1,3 --json")
    assert json.loads(out)["scale"] == 3.0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--norm 2,1", "--norm = '2,1': must be P,D,DIM"),
        ("--norm 2,1,1.5", "--norm = '2,1,1.5': must be P,D,DIM"),
        ("--norm 2,0,3", "--norm = '2,0,3': must be greater than 0"),
        ("--norm 2,1,3 --box 1,1", "cannot be combined with --sensitivity, --box or --max-cells"),
    ],
)
def test_a_wrong_norm_is_one_line_of_error(ggdp_cli, flags, message):
    code, out, err = ggdp_cli(f"calibrate --order 2 --epsilon 1 --delta 1e-6 {flags}")
    assert (code, out) == (1, "")
    assert message in err
