"""The view of noise: what it shows is what calibrate and plan give, and so is what its texts for copying give.

The view of attackers: beliefs in words, rounded towards privacy, and what is copied gives the same.
"""

import json
import shlex
import subprocess
import sys

import pytest
from tests.explorer.reading import rows_of, said_of, texts_of

import ggdp
from ggdp._rounding import rounded_up_text
from ggdp.cli.app import run
from ggdp.errors import UnattainableError
from ggdp.explorer.views.noise_view import (
    AttackerSettings,
    NoiseSettings,
    attacker_code,
    attacker_results,
    noise_code,
    noise_results,
    plan_results,
)
from ggdp.privacy.beliefs import belief

CASES = [
    NoiseSettings(),
    NoiseSettings(notion="pure", order=1.0, neighbours="replace-one"),
    NoiseSettings(epsilon=0.3, delta=0.01, max_cells=2, sensitivity=2.5, support="real", order=1.7),
    NoiseSettings(notion="probabilistic", delta=0.05, support="real", order=3.0),
]


@pytest.mark.parametrize("settings", CASES, ids=lambda case: case.notion)
def test_the_noise_is_that_of_calibrate_and_so_is_what_is_copied(settings, capsys):
    found = noise_results(settings)
    noise = ggdp.calibrate(settings.goal, settings.query, order=settings.order, support=settings.support)
    first = rows_of(found.files["noise.csv"])[0]
    assert float(first["scale"]) == noise.scale
    assert said_of(found, "Certified scale") == repr(noise.scale)
    command, python = noise_code(settings)
    calibrated = shlex.split(command.splitlines()[0])
    assert calibrated[0] == "ggdp"
    assert run([*calibrated[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scale"] == noise.scale
    scope = {"print": lambda *_: None}
    exec(python, scope)
    assert scope["noise"].scale == noise.scale
    assert scope["plan"].calibration.goal == settings.goal


def test_the_plus_minus_holds_95_of_100_draws_and_one_less_does_not():
    settings = NoiseSettings(epsilon=0.5, order=2.0)
    found = noise_results(settings)
    half = int(float(rows_of(found.files["noise.csv"])[0]["plus_minus_95"]))
    law = ggdp.calibrate(settings.goal, settings.query, order=2, support="integer").noise()
    assert texts_of(found)[0] == f"± {half}"
    assert float(law.cdf(half) - law.cdf(-half - 1)) >= 0.95 > float(law.cdf(half - 1) - law.cdf(-half))


def test_the_plan_is_that_of_plan_and_laplace_and_gaussian_stand_beside_it():
    settings = NoiseSettings(epsilon=1.0, delta=0.05, support="real")
    told = []
    found = plan_results(settings, progress=lambda *steps: told.append(steps))
    plan = ggdp.plan(settings.goal, settings.query, "quantile")
    assert found.for_inputs == plan.best.order
    errors = {choice.name.title(): rounded_up_text(choice.error) for choice in plan.alternatives}
    assert texts_of(found)[-1].endswith(f"Laplace {errors['Laplace']}; Gaussian {errors['Gaussian']}.")
    assert told
    assert min(float(row["plus_minus_95"]) for row in rows_of(found.files["error-by-order.csv"])) == pytest.approx(
        plan.best.error
    )


def test_what_does_not_exist_is_said_so():
    with pytest.raises(UnattainableError, match="pure DP"):
        noise_results(NoiseSettings(notion="pure", order=2.0))
    pure = noise_results(NoiseSettings(notion="pure", order=1.0))
    texts = texts_of(pure)
    after_laplace = texts[texts.index("Gaussian") :]
    assert after_laplace[:4] == ["Gaussian", "2", "not possible", "not possible"]


def test_pictures_have_words_and_files_have_the_colours_of_print():
    found = noise_results(NoiseSettings())
    assert any("holds 95 of 100 draws" in text for text in texts_of(found))
    assert str(found.html["laws"]).count("<title") == 1
    file = found.files["noise.svg"].decode()
    assert file.startswith("<?xml")
    assert "var(" not in file
    assert 'xmlns="http://www.w3.org/2000/svg"' in file


def test_one_moving_cell_is_quick_and_several_are_not():
    assert NoiseSettings().is_quick
    assert NoiseSettings(notion="pure", max_cells=50).is_quick
    assert not NoiseSettings(max_cells=2).is_quick
    assert not NoiseSettings(neighbours="replace-one").is_quick


def test_the_page_is_not_loaded_with_the_library():
    code = "import ggdp, ggdp.cli.app, sys; sys.exit('shiny' in sys.modules or 'ggdp.explorer' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "settings",
    [
        AttackerSettings(),
        AttackerSettings(notion="pure", epsilon=0.2, prior=3.0, neighbours="replace-one"),
        AttackerSettings(notion="probabilistic", delta=0.01),
    ],
    ids=lambda case: case.notion,
)
def test_beliefs_are_those_of_the_guarantee_and_so_is_what_is_copied(settings, capsys):
    found = attacker_results(settings)
    expected = [belief(settings.goal, prior) for prior in settings.priors]
    shown = rows_of(found.files["beliefs.csv"])
    assert [float(row["highest"]) for row in shown] == [one.highest for one in expected]
    command, python = attacker_code(settings)
    assert run([*shlex.split(command)[1:], "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [one["highest"] for one in printed["beliefs"]] == [one.highest for one in expected]
    assert printed["goal"]["notion"] == settings.notion
    said = []
    exec(python, {"print": said.append})
    assert said == expected


def test_the_text_says_what_delta_means_and_rounds_towards_privacy():
    found = attacker_results(AttackerSettings())
    texts = texts_of(found)
    assert texts[0] == "10 % → 23.2 %"
    assert "1 in 1,000,000" in texts[2]
    assert not any("exception" in text for text in texts_of(attacker_results(AttackerSettings(notion="pure"))))
    exact = belief(ggdp.ApproxDP(1.0, 1e-6), 0.1)
    _, least, most = texts[texts.index("10 %") :][:3]
    assert float(least.split()[0]) <= 100.0 * exact.lowest
    assert float(most.split()[0]) >= 100.0 * exact.highest


def test_the_command_says_the_same_in_words(capsys):
    assert run(["belief", "--epsilon", "1", "--delta", "1e-6", "--prior", "0.1"]) == 0
    printed = capsys.readouterr().out
    assert "23.2 %" in printed
    assert "3.92 %" in printed
    assert "with probability at most 1e-06" in printed
    assert run(["belief", "--epsilon", "1", "--prior", "1.5"]) == 1
    assert "--prior" in capsys.readouterr().err
