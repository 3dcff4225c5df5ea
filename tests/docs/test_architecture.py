"""The page on the architecture and its pictures say what the code says."""

import re
import tomllib
from pathlib import Path
from pkgutil import resolve_name
from xml.etree import ElementTree

import pytest

import ggdp
from ggdp.cli.app import app
from ggdp.proofs.worst_case import BOUNDS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "ggdp"
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
# Highest first.
LAYERS = next(contract["layers"] for contract in CONTRACTS if contract.get("containers") == ["ggdp"])
KERNEL = next(
    contract["source_modules"] for contract in CONTRACTS if "ggdp.proofs" in contract.get("source_modules", ())
)
PICTURES = ("architecture", "architecture-calibration", "architecture-release")
SVG = "{http://www.w3.org/2000/svg}"
ROLE = re.compile(r"\{py:\w+\}`(?:[^`<]*<([^`>]+)>|~?([^`<>]+))`")
CODE = re.compile(r"(?<!\})`(ggdp\.[\w.]+)`")


def picture(name):
    return ElementTree.parse(ROOT / "docs" / "_static" / f"{name}.svg").getroot()


def section(title):
    """Return the text of a section of the page."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]


def rows(title):
    """Return the rows of the first table of a section, without its head."""
    text = section(title)
    if "```{list-table}" in text:
        listed = text.partition("```{list-table}")[2].partition("\n\n")[2].partition("```")[0]
        cells = [re.split(r"^  - ?", row, flags=re.MULTILINE) for row in listed.split("* - ")[1:]]
        return [[" ".join(cell.split()) for cell in row] for row in cells][1:]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def texts(root, kind):
    """Return (group, text) of all texts of a class, in the order of the file."""
    return [
        (group, "".join(text.itertext()))
        for group in root.iter(f"{SVG}g")
        for text in group.iter(f"{SVG}text")
        if kind in text.get("class", "").split()
    ]


def place(group):
    """Return (y, x) of a group, so that places sort from the top down."""
    x, y = re.fullmatch(r"translate\((\S+) (\S+)\)", group.get("transform")).groups()
    return float(y), float(x)


def mentioned(text):
    """Return the full names that a text refers to, as links or as code."""
    return [first or second for first, second in ROLE.findall(text)] + CODE.findall(text)


def coloured(kind):
    """Return the packages of a colour in the picture."""
    return {name for group, name in texts(picture("architecture"), "package") if group.get("class") == kind}


def of_role(role):
    """Return the packages of a role in the page's table."""
    return {name.strip("`") for name, _, given in rows("Packages") if given == role}


def test_every_package_is_a_layer():
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages
    assert packages <= set(LAYERS)


def test_the_table_of_packages_is_the_layers_from_the_lowest_on():
    assert [row[0].strip("`") for row in rows("Packages")] == LAYERS[::-1]


def test_the_picture_stacks_the_packages_as_the_layers_are():
    shown = texts(picture("architecture"), "package")
    assert [name for _, name in sorted(shown, key=lambda pair: place(pair[0]))] == LAYERS
    assert [name for _, name in shown] == LAYERS[::-1]


def test_the_kernel_is_what_the_import_contract_says():
    assert coloured("kernel") == of_role("kernel") == {module.split(".")[1] for module in KERNEL}


@pytest.mark.parametrize(("colour", "role"), [("search", "search"), ("draws", "exact draws"), ("carry", "release")])
def test_page_and_picture_agree_on_roles(colour, role):
    assert coloured(colour) == of_role(role) != set()


def test_public_names_of_the_picture_are_exported_from_their_packages():
    root = picture("architecture")
    package = {id(group): name for group, name in texts(root, "package")}
    shown = {}
    for group, names in texts(root, "public"):
        shown[package[id(group)]] = names.split()
    for home, names in shown.items():
        for name in names:
            assert name in ggdp.__all__
            assert getattr(ggdp, name).__module__.startswith(f"ggdp.{home}.")
    homes = {getattr(ggdp, name).__module__.split(".")[1] for name in ggdp.__all__ if name != "__version__"}
    # The one name of `errors` has no room in the picture.
    assert set(shown) == homes - {"errors"}


def test_the_picture_has_every_command():
    ((_, names),) = texts(picture("architecture"), "command")
    commands = [command.name or command.callback.__name__ for command in app.registered_commands]
    groups = [group.typer_instance.info.name for group in app.registered_groups]
    assert names.split() == sorted(commands + groups)


@pytest.mark.parametrize(
    ("title", "name"), [("One calibration", "architecture-calibration"), ("One release", "architecture-release")]
)
def test_what_a_road_passes_exists(title, name):
    names = mentioned(section(title))
    assert len(names) > 8
    for dotted in names:
        resolve_name(dotted)
    passed = {text for _, text in texts(picture(name), "name")}
    assert len(passed) > 6
    for short in passed:
        assert any(dotted.endswith(f".{short}") for dotted in names), f"{short} is in the picture but not on the page"


def test_all_links_of_the_page_lead_to_something():
    for dotted in mentioned(PAGE):
        resolve_name(dotted)


def test_files_that_the_page_names_exist():
    named = re.findall(r"`((?:\w+/)+(?:\w+\.py)?|tests/[\w/]+(?:\.py)?)`", PAGE)
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists() and not (SOURCE / path).exists()] == []


def test_the_table_of_bounds_is_complete_and_right():
    table = [
        (name.strip("`"), *mentioned(bound), quantity, kind)
        for name, bound, _, quantity, kind in rows("The ten bounds")
    ]
    assert len(BOUNDS) == 10
    assert table == [
        (name, f"{bound.__module__}.{bound.__name__}", bound.quantity, "exact" if bound.exact else "upper bound")
        for name, bound in BOUNDS.items()
    ]


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_can_be_read_without_being_seen(name):
    root = picture(name)
    assert root.get("role") == "img"
    assert all(root.find(f"{SVG}{part}").text for part in ("title", "desc"))
    assert re.search(rf"^```\{{image\}} /_static/{name}\.svg\n---\nalt: >-\n  \S", PAGE, re.MULTILINE)


@pytest.mark.parametrize("dotted", ["ggdp.calibrated", "ggdp.proofs.bound.Bound.at_once", "ggdp.nowhere.Thing"])
def test_a_name_that_is_not_there_is_noticed(dotted):
    with pytest.raises((AttributeError, ImportError)):
        resolve_name(dotted)
