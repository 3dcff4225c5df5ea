"""A manifest that contradicts itself is refused: every field is changed, of manifests of every kind."""

import copy
import hashlib
import json
import random
import re
import zlib
from pathlib import Path

import pytest
from tests.cases import one_in
from tests.tables.manifest_changes import changed, changes
from tests.tables.manifest_kinds import MECHANISMS, SELECTIONS, TABLES, manifest_of_kind

import ggdp
from ggdp.errors import ArgumentError
from ggdp.explorer.releasing import find_refutation
from ggdp.ledger.charging import planned_request
from ggdp.reports.published import read_release
from ggdp.tables.manifest_checks import contradiction, in_own_words

pytestmark = pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")

KINDS = [
    *(("mechanism", name) for name in MECHANISMS),
    *(("selection", name) for name in SELECTIONS),
    *(("table", name) for name in TABLES),
]
# Of every so many changes one is tried every time.
STRIDE = 24
PAIRS, ALL_PAIRS = 16, 600


def always(_change, _manifest):
    """Whatever the new value is."""
    return True


def to(*values):
    """If it becomes one of these values."""
    return lambda change, _: change.what == "set" and change.new in values


def no_delta(change, manifest):
    """If the goal has no delta: then approximate and pure DP are the same."""
    return change.new == "approximate" and manifest["goal"]["delta"] == 0.0


def laplace(change, manifest):
    """If the noise is of order 1, which the best order and the paper's scale are as well."""
    return manifest["mechanism"]["order"] == 1.0 and change.new in (1.0, "tight")


def of_a_norm(_change, manifest):
    """If the noise is of a norm."""
    return "norm" in manifest["mechanism"]


def on_a_grid(change, manifest):
    """If a bound moves by less than a step of the grid and than six digits show."""
    old = manifest["mechanism"][change.path[1]][change.path[2]][change.path[3]]
    return change.what == "set" and abs(change.new - old) < 2e-4 * max(abs(old), 1.0)


def dropped(_change, manifest):
    """If some of the cells were dropped, to which other bounds belonged."""
    return any(step["name"] == "drop" for step in manifest["adjustments"])


def beyond_the_table(change, manifest):
    """If the table has no more cells: that a unit may be in more changes nothing."""
    return type(change.new) is int and change.new >= manifest["table"]["cells"]


def repeated(change, manifest):
    """If no sensitivity says how many values there are."""
    return not re.match(r"coordinates|[0-9]", manifest["sensitivity"]) and not dropped(change, manifest)


def left_by_a_threshold(_change, manifest):
    """If it depends on the noise how many cells are shown."""
    return manifest["mechanism"]["threshold"] is not None


REQUEST = "a request that was changed is another request, if nothing else follows from it"
PROOF = "another way to prove the same claim, which was proved again"
# What may be changed alone, and why: the kind of manifest, the place, when, and the reason.
BELIEVED = [
    ("", r"ggdp", always, "an earlier version: its words are not compared, and those of this one are shown"),
    ("", r"goal\.notion", no_delta, "approximate DP with a delta of 0 is pure DP"),
    ("", r"ledger(\.(entry|identity))?", always, "compared with the ledger, by those who have it"),
    ("", r"(table\.cut\.)?mechanism\.(parts\[\]\.)?certificate\.parameters\.layout\..*", always, PROOF),
    ("", r"(table\.cut\.)?mechanism\.(parts\[\]\.)?certificate\.(precision|arithmetic)", always, PROOF),
    ("", r"(table\.cut\.)?mechanism\.(parts\[\]\.)?certificate\.tight", to(None), "it claims less"),
    ("mechanism", r"goal\.(delta|notion)", of_a_norm, "noise of a norm is pure, which keeps every goal of its epsilon"),
    ("mechanism", r"mechanism\.method", laplace, "at order 1 the paper's scale is the least"),
    ("mechanism", r"mechanism\.(query_)?bounds\[\]\[\]", on_a_grid, "the noise on the grid is the same"),
    ("mechanism", r"mechanism\.bounds(\[\])*", dropped, "those of cells that were dropped are not listed"),
    ("mechanism", r"values\.shape(\[\])?", repeated, "any number of values has noise, of which few move"),
    ("selection", r"values\.type", to("integer", "number", "label"), "candidates may be texts or numbers"),
    ("selection", r"sensitivity", always, "that of a utility is all that is stated of it"),
    ("selection", r"mechanism\.(candidates|excluded)", always, "of how many was selected is public"),
    ("table", r"values\.shape\[\]", left_by_a_threshold, "how many cells are shown is a part of the result"),
    ("table", r"table\.request\.domain\.\w+\.(levels|edges)(\[\])?", always, REQUEST),
    ("table", r"table\.request\.text\.\w+", always, REQUEST),
    ("table", r"table\.request\.order", laplace, "the best order is 1"),
    ("table", r"table\.request\.max_cells", beyond_the_table, "a unit cannot be in more cells than there are"),
    ("table", r"table\.tables\[\]\.tableSchema\.columns\[\]\.datatype", to("string"), "dates are texts as well"),
    ("table", r"table\.tables\[\]\.(url|sha256)", always, "compared with the file, where it is present"),
]
# What may be changed together with another version.
WORDS = (
    r"statement|sensitivity|(table\.cut\.)?mechanism\.(parts\[\]\.)?(name|item|notes.*|sensitivity)|table\.warnings.*"
    r"|table\.tables\[\]\.(covers|tableSchema\.columns\[\]\.dc:description)"
)


def why_believed(kind, manifest, change):
    """Return why a change is meant to pass; None if it is not."""
    place = re.sub(r"\[\d+\]", "[]", change.name)
    for of, pattern, when, why in BELIEVED:
        if of in ("", kind) and re.fullmatch(pattern, place) and when(change, manifest):
            return why
    return None


@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_a_manifest_as_it_was_written_agrees_with_itself(kind, name):
    manifest = manifest_of_kind(kind, name)
    (part,) = ggdp.compose([manifest]).parts
    assert [one.to_dict() for one in part.losses] == manifest["losses"]


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "manifests").iterdir()), ids=lambda path: path.stem)
def test_a_manifest_that_was_published_stays_valid(path):
    assert contradiction(json.loads(path.read_bytes())) is None


def refusals(kind, name, tried):
    """Return the changes that passed although they are not meant to."""
    manifest = manifest_of_kind(kind, name)
    return [
        (change.name, change.what, change.new)
        for change in tried
        if contradiction(changed(manifest, change)) is None and why_believed(kind, manifest, change) is None
    ]


@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_a_change_of_one_field_is_refused(kind, name):
    tried = list(changes(manifest_of_kind(kind, name)))
    assert refusals(kind, name, tried[zlib.crc32(name.encode()) % STRIDE :: STRIDE]) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_every_change_of_one_field_is_refused(kind, name):
    assert refusals(kind, name, changes(manifest_of_kind(kind, name))) == []


# Where guarantees and losses come from: half of the pairs are among these.
PRIVACY = (
    r"(guarantee|goal|losses|neighbours|sensitivity|mechanism\.(order|scale|threshold)"
    r"|table\.(unit|statistics|cut|cells|regime)"
    r"|table\.request\.(goal|neighbours|unit|max|count|statistics|weights|order|per_unit|by|false_cells)).*"
)


def pair_is_refused(kind, manifest, pair):
    """Return whether two changes are refused, or are both meant to pass."""
    forged = changed(manifest, *pair)
    if forged == manifest or contradiction(forged) is not None:
        return True
    # One of them may do nothing, at a place that the other has removed.
    alone = [change for change in pair if changed(manifest, change) == forged]
    version = any(change.name == "ggdp" for change in pair)
    return all(
        why_believed(kind, manifest, change) or (version and re.fullmatch(WORDS, re.sub(r"\[\d+\]", "[]", change.name)))
        for change in alone[:1] or pair
    )


def refused_pairs(kind, name, number):
    """Return pairs of changes that passed although they are not meant to."""
    manifest, chance = manifest_of_kind(kind, name), random.Random(f"{kind} {name}")
    tried = list(changes(manifest))
    private = [change for change in tried if re.fullmatch(PRIVACY, change.name)]
    pairs = [chance.sample(private if place % 2 else tried, 2) for place in range(number)]
    return [
        [(one.name, one.what, one.new) for one in pair] for pair in pairs if not pair_is_refused(kind, manifest, pair)
    ]


@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_a_change_of_two_fields_is_refused(kind, name):
    assert refused_pairs(kind, name, PAIRS) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_many_changes_of_two_fields_are_refused(kind, name):
    assert refused_pairs(kind, name, ALL_PAIRS) == []


def everywhere(node, old, new):
    """Return a manifest in which one value is another one, wherever it occurs."""
    if isinstance(node, dict):
        return {name: everywhere(item, old, new) for name, item in node.items()}
    if isinstance(node, list):
        return [everywhere(item, old, new) for item in node]
    if isinstance(node, str) and isinstance(old, str) and old in ("add-remove", "replace-one"):
        return node.replace(old, new)
    return new if type(node) is type(old) and node == old else node


@pytest.mark.parametrize(("kind", "name"), one_in(3, KINDS))
def test_a_value_that_is_changed_wherever_it_occurs_lowers_no_loss(kind, name):
    manifest = manifest_of_kind(kind, name)
    found = [(change, leaf(manifest, change.path)) for change in changes(manifest)]
    values = {(type(old), old): old for _, old in found if isinstance(old, int | float | str)}
    for old in values.values():
        if isinstance(old, str) and old not in ("add-remove", "replace-one"):
            continue
        news = {"add-remove": ["replace-one"], "replace-one": ["add-remove"]}.get(old) or (
            [not old] if isinstance(old, bool) else [old // 2, old + 1] if isinstance(old, int) else [old / 2, old * 2]
        )
        for new in news:
            forged = everywhere(manifest, old, new)
            if forged == manifest or contradiction(forged) is not None:
                continue
            if forged["mechanism"].get("certificate") != manifest["mechanism"].get("certificate"):
                continue  # another proof, of other noise: another manifest
            if kind == "selection" or forged["losses"] == manifest["losses"]:
                continue  # the guarantee of a selection is all that is stated of it
            before, after = (ggdp.compose([one]).epsilon(1e-6)[1] for one in (manifest, forged))
            assert after >= before * (1.0 - 1e-9), (old, new)


def leaf(node, path):
    """Return what is at a place."""
    for step in path:
        node = node[step]
    return node


def without(manifest, place):
    """Remove an item of the losses."""
    del manifest["losses"][place]


def without_certificate(manifest):
    """Leave the guarantee alone to say what the noise costs."""
    manifest["mechanism"]["certificate"] = None
    guarantee = manifest["guarantee"]
    manifest["losses"] = [
        {"kind": "response", "epsilon": guarantee["epsilon"], "delta": guarantee["delta"], "count": 1}
    ]


# Forgeries that were once believed: (kind, name), what is done, what the message says.
FORGERIES = {
    "the neighbours of the guarantee": (
        ("table", "written"),
        lambda manifest: manifest["guarantee"].update(neighbours="replace-one"),
        r"guarantee.neighbours is 'replace-one', but the rest of the manifest makes it 'add-remove'",
    ),
    "the column of units": (
        ("table", "written"),
        lambda manifest: manifest["table"]["unit"].update(column="id"),
        r"table.unit.column is 'id', but the rest of the manifest makes it None",
    ),
    "the scale": (
        ("table", "written"),
        lambda manifest: manifest["mechanism"].update(scale=100.0),
        r"mechanism.scale is 100.0, but the certificate is about 2.0",
    ),
    "the losses of quantiles": (
        ("table", "quantiles"),
        lambda manifest: without(manifest, -1),
        r"losses has 1 items, but the rest of the manifest needs 2",
    ),
    "the loss of a threshold": (
        ("table", "open"),
        lambda manifest: without(manifest, -1),
        r"losses has 1 items, but the rest of the manifest needs 2",
    ),
    "the loss of the units cut": (
        ("table", "units cut"),
        lambda manifest: without(manifest, 1),
        r"losses has 1 items, but the rest of the manifest needs 2",
    ),
    "no certificate": (("table", "written"), without_certificate, r"mechanism has no certificate"),
    "no certificate of a mechanism": (("mechanism", "gaussian"), without_certificate, r"mechanism has no certificate"),
    "a move that is divided among many cells": (
        ("mechanism", "gaussian, large moves"),
        lambda manifest: manifest["losses"][0].update(size=1.0, count=100),
        r"losses\[0\].size is 1.0",
    ),
    "a smaller guarantee": (
        ("mechanism", "order 3, box"),
        lambda manifest: manifest["guarantee"].update(epsilon=0.4),
        r"guarantee.epsilon is 0.4",
    ),
    "half the scale": (
        ("mechanism", "gaussian"),
        lambda manifest: [
            place.update(scale=1.0)
            for place in (
                manifest["losses"][0],
                manifest["mechanism"],
                manifest["mechanism"]["certificate"]["parameters"],
            )
        ],
        r"the certificate of mechanism does not hold",
    ),
    "a statement of less": (
        ("table", "written"),
        lambda manifest: manifest.update(statement=manifest["statement"].replace("0.5-DP", "0.05-DP")),
        r"statement is ",
    ),
    "a key that is no column": (
        ("table", "written"),
        lambda manifest: manifest["table"]["tables"][0]["tableSchema"].update(primaryKey=["nobody"]),
        r"primaryKey\[0\] is 'nobody'",
    ),
    "a field that nobody writes": (
        ("mechanism", "laplace"),
        lambda manifest: manifest["mechanism"].update(exact=True),
        r"mechanism.exact does not belong there",
    ),
    "a number that is true": (
        ("mechanism", "laplace"),
        lambda manifest: manifest["losses"][0].update(count=True),
        r"losses\[0\].count is True",
    ),
    "smaller errors": (
        ("mechanism", "laplace"),
        lambda manifest: manifest["error"].update(half_width=0.5),
        r"error.half_width is 0.5",
    ),
    "a file elsewhere": (
        ("table", "written"),
        lambda manifest: manifest["table"]["tables"][0].update(url="../../people.csv"),
        r"not in the directory of the manifest",
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_all_who_read_manifests_refuse_a_forged_one_and_name_the_field(forgery, tmp_path):
    which, forge, said = FORGERIES[forgery]
    manifest = manifest_of_kind(*which)
    forge(manifest)
    path = tmp_path / "forged.manifest.json"
    path.write_text(json.dumps(manifest))
    for read in (lambda: ggdp.compose([path]), lambda: read_release(path), lambda: planned_request(manifest)):
        with pytest.raises(ArgumentError, match=said):
            read()
    assert re.search(said, find_refutation(manifest))


def test_a_message_is_short_however_long_the_manifest_is():
    manifest = manifest_of_kind("table", "written")
    assert len(contradiction({**manifest, "statement": "long " * 10**5})) < 1000


@pytest.mark.parametrize(("kind", "name"), [("mechanism", "order 3, box"), ("table", "units cut")])
def test_the_words_of_an_earlier_version_are_not_compared_nor_shown_and_its_numbers_are(kind, name):
    own = manifest_of_kind(kind, name)
    manifest = own | {"ggdp": "0.0.9", "statement": "Published under 0.0001-DP."}
    assert contradiction(manifest) is None
    assert in_own_words(manifest)["statement"] == own["statement"]
    manifest["guarantee"]["epsilon"] /= 2.0
    assert contradiction(manifest).startswith("guarantee.epsilon is ")


@pytest.mark.parametrize("version", ["9.9", "0.1.0 ", "0.1\n<script>", "0.1.0.dev1", 1, None, "9" * 500])
def test_a_later_version_and_what_is_no_version_are_refused(version):
    manifest = manifest_of_kind("table", "written") | {"ggdp": version}
    assert contradiction(manifest).startswith("ggdp is ")


@pytest.mark.parametrize("url", ["a\n  signature: valid", "\x1b[2J.csv", "x" * 300, "a\u202eb.csv", "../a.csv", "."])
def test_the_name_of_a_file_is_a_name_that_can_be_printed(url):
    manifest = copy.deepcopy(manifest_of_kind("table", "written"))
    manifest["table"]["tables"][0]["url"] = url
    assert contradiction(manifest).startswith("table.tables names the file")


@pytest.mark.parametrize("shape", [[10**300] * 20, [2**1000] * 20_000, [2] * 64, [1] * 65])
def test_a_shape_that_no_array_has_is_refused(shape):
    manifest = copy.deepcopy(manifest_of_kind("mechanism", "order 3, box"))
    manifest["values"]["shape"] = shape
    assert contradiction(manifest).startswith("values.shape is larger than any array")


def test_a_certificate_about_more_coordinates_than_any_release_has_takes_no_memory():
    box = ggdp.Sensitivity.box([1] * 9)
    given = {"order": 1, "support": "integer", "bounds": [(0, 20)] * 9, "bounding": "truncated"}
    manifest = ggdp.Mechanism(ggdp.calibrate(ggdp.PureDP(5.0), box, **given)).release([3] * 9).manifest
    certificate = manifest["mechanism"]["certificate"]
    certificate["parameters"]["coordinates"] = [[20.0 + i, 1.0, 10**6] for i in range(300)]
    certificate["parameters"]["moving"] = 3 * 10**8
    certificate |= {"proved": 1e30, "target": 1e30, "tight": None}
    for stated in (manifest["goal"], manifest["guarantee"]):
        stated["epsilon"] = 1e30
    assert contradiction(manifest) is not None


def test_the_digest_of_a_directory_is_that_of_its_parts():
    manifest = manifest_of_kind("table", "written")
    (file,) = manifest["table"]["tables"]
    parts = {f"part-{number}.parquet": hashlib.sha256(bytes([number])).hexdigest() for number in range(2)}
    listing = "".join(f"{digest}  {name}\n" for name, digest in parts.items())
    file |= {"url": "people.parquet", "sha256": hashlib.sha256(listing.encode()).hexdigest()}
    file["parts"] = [{"url": f"people.parquet/{name}", "sha256": digest} for name, digest in parts.items()]
    assert contradiction(manifest) is None
    file["parts"].pop()
    assert contradiction(manifest) == "the parts of 'people.parquet' are not those that its sha256 is of"
