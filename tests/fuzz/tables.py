"""Random tables with special values of every type, and questions that go with them, each from one integer.

A `Case` is a table, the rows of one unit (or one row) in it, and what is asked: marginals, a unit, most cells. It is
all that is needed to count the table with and without these rows; `str(case)` is Python that makes it again.

Text that is no UTF-8 is held as Python holds undecodable bytes (surrogate escapes), and days outside of the years 1 to
9999 as numbers of days since 1970.
"""

from __future__ import annotations

import math
import random
import struct
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ggdp.domain.table_domain import Domain
from ggdp.sources.query import CountQuery

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

KEY = bytes(range(32))
NAN, INF = math.nan, math.inf
_EPOCH = date(1970, 1, 1)

_INTEGERS = {f"{sign}int{bits}": (sign, bits) for sign in ("", "u") for bits in (8, 16, 32, 64)}
_ARROW = {
    **{name: getattr(pa, name)() for name in (*_INTEGERS, "float16", "float32", "float64", "date32")},
    "bool": pa.bool_(),
    "decimal": pa.decimal128(20, 3),
    "timestamp": pa.timestamp("us"),
}
TYPES = ("text", "category", *_ARROW)

_WORDS = (
    *("a", "b", "A", " a", "a ", "", "é", "e\u0301", "日本", "🜁", "it's", 'say "hi"', '"', '""', '"a"', 'a"b', "a,b"),
    *(",", "\t", "a\tb", ";", "a\nb", "\n", "a\rb", "\r", "a\r\nb", "\r\n", "x\r\n", "\rx", "a\0b", "\0", "\ufeff"),
    *("\ufeffa", "\u2028", "a\u2028b", "\u0085", "\x0b", "\x0c", "\x1a", "\x1b", "~0:", ":", "\\", 'a\\"', "\\N"),
    *("NaN", "nan", "null", "NULL", "None", "NA", "N/A", "inf", "-inf", "#x", "=1+1", "@x", "'", "{", "}", "[1]"),
    *("1", "+7", " 1", "01", "1.0", "1.", "1e5", "0x10", "-0", "1_0", ".5", "1e400", "1e-400", "9007199254740993"),
    *("18446744073709551616", "true", "True", "FALSE", "t", "2020-01-02", "2020-1-2", "0001-01-01", "x" * 300),
    # A lone carriage return, which some writers do not quote, where it makes most of itself.
    *("b\rb\rb", "a\ra,a\ra", "\r1\r1\r1", "1\r,1\r,1\r", "a\rb") * 3,
    *("a,b\r\nc,d", 'a"\nb,"c', 'x\ny"', "a\n\n\nb", "a\r\r\rb", "b,1\rb,2\rb,3"),
)
_UNDECODABLE = ("\udcff", "a\udce9", "caf\udce9 b", "\udcc3", "\udced\udca0\udc80")
_FLOATS = (0.0, -0.0, 1.0, 1.5, 35.0, -1.0, INF, -INF, 5e-324, 1e-7, 1e300, 2.0**53, 2.0**63, -(2.0**63), 0.1, 100.0)
_DAYS = (date(2020, 1, 2), date(1, 1, 1), date(9999, 12, 31), date(1582, 10, 10), date(1970, 1, 1), date(2000, 2, 29))
_FAR_DAYS = (-800_000, 2_932_897, -719_163, 2**31 - 2)
_DECIMALS = tuple(map(Decimal, ("0", "-0.001", "1.000", "1.500", "35.000", "120.000", "-7.000", "99999999.999")))
_NAMES = ("w", "v", "x", "city", "age", "day of birth", "note", "count", "cell", "u", "c0", "t0", "n", "group", "日 本")
# Names that somebody may take for one another, for a pattern, for a path, or for something of their own.
_ODD_NAMES = (
    ("w", "W", "w_1", "v"),
    ("age", "Age", "AGE", "n"),
    ("^w.*$", "w", "note", "v"),
    ("a.b", "a", "b", "`a`", "a`b"),
    (" w", "w", "w ", "w\n", "\tw"),
    ('say "w"', "it's; --", "a,b", "{w}", "a:b", "a[0]", "%", "\\w", "1", "é", "(w)"),
    ("rowid", "filename", "_corrupt_record", "_metadata", "count", "cell", "u", "n", "score", "place"),
)


@dataclass(frozen=True)
class Field:
    """A column: its name, and its type by the name that Arrow has for it."""

    name: str
    type: str


@dataclass(frozen=True)
class Table:
    """Typed columns, and rows of Python values."""

    fields: tuple[Field, ...]
    rows: tuple[tuple[Any, ...], ...]

    @property
    def names(self) -> list[str]:
        return [field.name for field in self.fields]

    def values(self, name: str) -> list[Any]:
        place = self.names.index(name)
        return [row[place] for row in self.rows]

    def arrow(self) -> pa.Table:
        columns = [_array(field.type, [row[place] for row in self.rows]) for place, field in enumerate(self.fields)]
        return pa.Table.from_arrays(columns, names=self.names)


@dataclass(frozen=True)
class Limits:
    """What a writer takes: types, and whether text that is no UTF-8, and days that Python has no date for."""

    types: Collection[str] = TYPES
    undecodable: bool = False
    far_days: bool = False
    # Whether it keeps the names of columns that differ in case alone.
    odd_names: bool = True


@dataclass(frozen=True)
class Case:
    """A table with the rows of somebody who may not be there, and what is asked."""

    table: Table
    victim: frozenset[int]
    marginals: tuple[dict[str, Any], ...]
    unit: str | None = None
    max_cells: int = 1
    unit_nulls: tuple[str, ...] = ()
    seed: int | None = field(default=None, compare=False)
    where: tuple[Any, ...] | None = None  # a filter of `tests.fuzz.filters`
    derived: tuple[tuple[str, Any], ...] = ()  # derived columns of `tests.fuzz.derived`, by their names

    @property
    def neighbour(self) -> Table:
        """The table without the rows of the victim."""
        rows = tuple(row for place, row in enumerate(self.table.rows) if place not in self.victim)
        return replace(self.table, rows=rows)

    @property
    def columns(self) -> list[str]:
        wanted = [name for marginal in self.marginals for name in marginal]
        return list(dict.fromkeys([*wanted, *filter(None, [self.unit])]))

    @property
    def query(self) -> CountQuery:
        return CountQuery(
            marginals=tuple(map(Domain, self.marginals)),
            unit=self.unit,
            max_cells=self.max_cells,
            unit_nulls=self.unit_nulls,
            key=b"" if self.unit is None else KEY,
        )

    @property
    def is_open(self) -> bool:
        return any(Domain(marginal).is_open for marginal in self.marginals)


def _array(kind: str, values: Sequence[Any]) -> pa.Array:
    if kind in ("text", "category"):
        texts = _texts(values)
        return texts.dictionary_encode() if kind == "category" else texts
    if kind == "date32":
        days = [(value - _EPOCH).days if isinstance(value, date) else value for value in values]
        return pa.array(days, pa.int32()).cast(pa.date32())
    return pa.array(values, _ARROW[kind])


def _texts(values: Sequence[str | None]) -> pa.Array:
    raw = pa.array([None if v is None else v.encode("utf-8", "surrogateescape") for v in values], pa.binary())
    # A view, since a cast would look whether it is UTF-8.
    return raw.view(pa.string())


def random_case(seed: int, limits: Limits = Limits(), *, most_rows: int = 30) -> Case:  # noqa: B008 - it is frozen
    """Return the case of a seed; a seed gives the same case for the same limits, on every machine."""
    rng = random.Random(seed)
    fields = _fields(rng, limits)
    palettes = [_palette(rng, field.type, limits) for field in fields]
    countable = [field for field in fields if field.type != "timestamp"]
    units = [field for field in countable if not field.type.startswith(("float", "decimal"))]
    unit = rng.choice(units) if units and rng.random() < 0.5 else None
    rows = []
    for _ in range(rng.choice((1, 2, 3, rng.randint(1, most_rows)))):
        row = tuple(rng.choice(palette) for palette in palettes)
        # Many rows that are alike: one that moves them all is then seen.
        rows += [row] * rng.choice((1, 1, 1, 4))
    asked = [field for field in countable if field is not unit or rng.random() < 0.1] or countable
    specials = dict(zip(fields, palettes, strict=True))
    marginals = []
    for _ in range(rng.choice((1, 1, 2))):
        taken = rng.sample(asked, k=min(len(asked), rng.choice((1, 2, 2, 3))))
        marginals.append({field.name: _declared(rng, field, specials[field]) for field in taken})
    table, victim = _with_victim(rng, fields, palettes, rows, unit)
    # A column that is declared twice is declared in one way, as some engines demand.
    first: dict[str, Any] = {}
    for marginal in marginals:
        for name in marginal:
            marginal[name] = first.setdefault(name, marginal[name])
    max_cells = 1 if unit is None else rng.choice((1, 2, 3))
    return Case(table, victim, tuple(marginals), unit and unit.name, max_cells, seed=seed)


def complete_case(seed: int, limits: Limits = Limits()) -> Case:  # noqa: B008 - it is frozen
    """Return the case of a seed in which all declared columns, or half of them, are complete."""
    case, rng = (random_case, declared_case)[seed % 2](seed, limits), random.Random(f"complete {seed}")
    some = {name for marginal in case.marginals for name in marginal if rng.random() < rng.choice((0.5, 1.0))}

    def complete(declared: Any) -> Any:
        if not isinstance(declared, dict) or not {"levels", "edges"} & declared.keys():
            return declared
        return {key: value for key, value in declared.items() if key not in ("other", "missing")} | {"complete": True}

    marginals = [{k: complete(v) if k in some else v for k, v in marginal.items()} for marginal in case.marginals]
    return replace(case, marginals=tuple(marginals))


# Numbers and times as people write them, and as nobody should.
_NUMBERS_WRITTEN = (
    *("1", "7", "35", "-1", "007", "1,5", "1.5", "1.234", "1,234", "1.234,5", "1,234.5", "-1.234.567,25", "+1,234,567"),
    *("12.34.567", "1.2345", "1234.567", ".5", ",5", "5,", "5.", ",", ".", "-", "1,2,3", "1..234", "1e1", "1,5e+1"),
    *("1'234", "1\u2019234,5", "1 234", "1\u00a0234", "1\u202f234\u00a0567", " 1", "1 ", "1  234", "1 23", "1\t234"),
    *("0" * 40 + "7", "1" + ".000" * 12, "1" + ".000" * 13, "NA", "n/a", "-9", "", "\u0661", "1\n", "\n1", "9" * 41),
)
_TIMES_WRITTEN = (
    *("2020-01-02", "02.01.2020", "2.1.2020", "2.1.20", "01/02/20", "1/2/69", "1/2/68", "20200102", "2020012", "NA"),
    *(
        "29.02.2023",
        "29.02.2024",
        "31.12.9999",
        "1.1.0001",
        "02.01.2020 ",
        "02.01.20201",
        "2.1.2020\n",
        "1.13.2020",
        "",
    ),
    *("2020-01-02T00:00Z", "2020-01-01T23:30-00:30", "2020-01-02 00:30:00.5+0100", "2020-01-02 05:00+05", "-9"),
    *("2020-01-02T00:00:00", "2020-01-02T24:00Z", "2020-01-02T00:00+24:00", "2020-01-02Z", "2020-01-02 00:00 Z"),
    *("9999-12-31T23:59:59.999999999-00:01", "0001-01-01T00:00+00:01", "2024-02-29T23:59+23:59", "2023-02-29T00:00Z"),
    *("02.01.2020 5:06", "02.01.2020 05:06", "2.1.2020 24:00", "02.01.2020 5:6", "3.1.2020 0:00Z", "1.1.2020 23:59"),
)
_FORMATS = ("%d.%m.%Y", "%m/%d/%y", "%Y%m%d")
_CLOCKS = ("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M%z")


def declared_case(seed: int, limits: Limits = Limits()) -> Case:  # noqa: B008 - it is frozen
    """Return a case of text that is declared to be read in ways of its own."""
    rng = random.Random(f"declared {seed}")
    kinds = [kind for kind in ("text", "text", "category") if kind in limits.types]
    fields = tuple(Field(name, rng.choice(kinds)) for name in ("w", "v", "who"))
    ways = [rng.choice(("integer", "bins", "date", "dated", "dated")), rng.choice(("text", "open", "bins", "dated"))]
    pools = [_TIMES_WRITTEN if way in ("date", "dated") else _NUMBERS_WRITTEN for way in ways]
    palettes = [[*rng.choices(pool, k=5), rng.choice((None, "NA"))] for pool in pools]
    palettes.append(["a", "b", "NA", "n/a", "1.0", None])
    rows = [tuple(rng.choice(palette) for palette in palettes) for _ in range(rng.randint(1, 25))]
    unit = fields[2] if rng.random() < 0.5 else None
    marginal = {field.name: _read_as(rng, way) for field, way in zip(fields, ways, strict=False)}
    table, victim = _with_victim(rng, fields, palettes, rows, unit)
    nulls = tuple(rng.sample(("NA", "n/a", "1"), 2)) if unit else ()
    asked = rng.choice(((marginal,), tuple({name: declared} for name, declared in marginal.items())))
    return Case(table, victim, asked, unit and "who", 1 if unit is None else rng.choice((1, 2, 3)), nulls, seed)


def _read_as(rng: random.Random, way: str) -> dict[str, Any]:
    """Return what is declared of a column of text, with how it is read."""
    point, between = rng.choice(
        ((",", "."), (",", None), (".", ","), (None, "'"), (",", " "), (".", "\u00a0"), (None, None))
    )
    found: dict[str, Any] = {"null_values": rng.sample(("NA", "n/a", "-9", "", "1"), 2)}
    found |= {key: mark for key, mark in (("decimal", point), ("thousands", between)) if mark is not None}
    if way == "open":
        return found
    if way == "integer":
        found["levels"] = [1, 7, -1, 5, 1234, 1234567]
    elif way == "bins":
        found["edges"] = rng.choice(([0, 1.5, 2, 1000, 2000], [-INF, 0, 1234.5, INF]))
    elif way == "text":
        found["levels"] = ["1", "1,5", "1.234", "n/a"]
    elif way == "date":
        found |= {"levels": list(_DAYS), "date_format": rng.choice(_FORMATS)}
    else:
        found["edges"] = rng.choice(
            (
                [date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 3)],
                [-INF, datetime(2020, 1, 2, 0, 0, 0, 500_000), datetime(2024, 2, 29, 0, 1), INF],  # noqa: DTZ001
            )
        )
        found |= rng.choice([{}, {}, {"date_format": rng.choice((*_FORMATS, *_CLOCKS))}])
    return {**found, "other": "(other)", "missing": "(missing)"}


def _fields(rng: random.Random, limits: Limits) -> tuple[Field, ...]:
    kinds = [kind for kind in TYPES if kind in limits.types]
    # Text and floats are where most went wrong.
    weights = [12 if kind == "text" else 8 if kind.startswith("float") else 1 for kind in kinds]
    names = rng.choice(_ODD_NAMES) if limits.odd_names and rng.random() < 0.25 else _NAMES
    number = rng.randint(2, min(5, len(names)))
    return tuple(
        Field(name, kind)
        for name, kind in zip(rng.sample(names, number), rng.choices(kinds, weights, k=number), strict=True)
    )


def _palette(rng: random.Random, kind: str, limits: Limits) -> list[Any]:
    """Return the few values that a column is drawn from."""
    pool = _pool(kind, limits)
    found = [rng.choice(pool) for _ in range(rng.randint(1, 4))]
    if kind.startswith("float") and rng.random() < 0.6:
        # Beside numbers that are finite: the statistics of a file then say nothing of them.
        found = [NAN, NAN, *rng.sample((0.0, 1.0, 1.5, 35.0, -1.0), rng.choice((0, 2, 2, 3)))]
    if rng.random() < 0.4:
        found.append(None)
    return found


def _pool(kind: str, limits: Limits) -> Sequence[Any]:
    if kind in ("text", "category"):
        return _WORDS + (_UNDECODABLE * 8 if limits.undecodable else ())
    if kind in _INTEGERS:
        sign, bits = _INTEGERS[kind]
        low, high = (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return [n for n in (0, 1, 2, 7, 35, -1, 2**53 + 1, 2**63, low, high, high - 1) if low <= n <= high]
    if kind.startswith("float"):
        return [_rounded(value, kind) for value in (NAN, NAN, *_FLOATS)]
    if kind == "date32":
        return _DAYS + (_FAR_DAYS if limits.far_days else ())
    if kind == "timestamp":
        return (0, 10**15, -1)
    return _DECIMALS if kind == "decimal" else (True, False)


def _rounded(value: float, kind: str) -> float:
    """Return a float as a shorter type has it."""
    code = {"float16": "<e", "float32": "<f", "float64": "<d"}[kind]
    try:
        return float(struct.unpack(code, struct.pack(code, value))[0])
    except OverflowError:
        return math.copysign(INF, value)


def _declared(rng: random.Random, field: Field, palette: Sequence[Any]) -> Any:
    """Return what is declared of a column: a list of levels, a table of levels or edges, or None if it is open."""
    kind = field.type
    ways = {
        "text": ("text", "text", "integer", "boolean", "date", "bins", "open", "open"),
        "category": ("text", "integer", "bins", "open"),
        "bool": ("text", "boolean", "open"),
        "date32": ("text", "date", "open"),
        "decimal": ("integer", "bins"),
    }.get(kind, ("integer", "bins", "bins") if kind.startswith("float") else ("text", "integer", "bins", "open"))
    way = rng.choice(ways)
    if way == "open":
        return None
    if way == "bins":
        edges = rng.choice(([0, 10, 20], [-INF, 0, INF], [0, 1, 1.5, 100], [-1.5, 35], [1, 2.0**53, 2.0**64], [0.1, 7]))
        found: dict[str, Any] = {"edges": edges}
    elif way == "integer":
        found = {"levels": rng.choice(([0, 1, 7, 35], [1, -1, 2**53 + 1], [16, 2**63 - 1, -(2**63), 0]))}
    elif way == "boolean":
        found = {"levels": rng.choice(([True, False], [False]))}
    elif way == "date":
        found = {"levels": list(_DAYS[: rng.randint(1, 4)])}
    else:
        found = {"levels": _text_levels(rng, palette)}
    if way == "integer" and len(found["levels"]) == 3:
        found["labels"] = ["one", "minus one", "large"]
    for role, label in (("other", "(other)"), ("missing", "(missing)")):
        if rng.random() < 0.75:
            found[role] = label
    return found


def _text_levels(rng: random.Random, palette: Sequence[Any]) -> list[str]:
    texts = ["a", "b", "1", "true", "2020-01-02", *(value for value in palette if isinstance(value, str))]
    # An empty field of a CSV file is a null, and no level of one.
    texts = [text for text in dict.fromkeys(texts) if text and text.isprintable() | (rng.random() < 0.7)]
    return [text for text in texts if not any("\ud800" <= c <= "\udfff" for c in text)] or ["a"]


def _with_victim(
    rng: random.Random,
    fields: Sequence[Field],
    palettes: Sequence[Sequence[Any]],
    rows: list[tuple[Any, ...]],
    unit: Field | None,
) -> tuple[Table, frozenset[int]]:
    """Return a table with somebody's rows at its start, at its end or anywhere, and their places."""
    # The victim has values that others may not have.
    own = [(*palette, *rng.choices(_pool_like(palette), k=2)) for palette in palettes]
    theirs = [tuple(rng.choice(values) for values in own) for _ in range(1 if unit is None else rng.randint(1, 6))]
    if unit is not None:
        place = fields.index(unit)
        name = rng.choice(palettes[place])
        theirs = [(*row[:place], name, *row[place + 1 :]) for row in theirs]
        if name is None:
            theirs = theirs[:1]
        else:
            rows = [row for row in rows if row[place] != name]
    where = rng.choice(("start", "end", "anywhere"))
    if where == "start":
        return Table(tuple(fields), (*theirs, *rows)), frozenset(range(len(theirs)))
    if where == "end":
        return Table(tuple(fields), (*rows, *theirs)), frozenset(range(len(rows), len(rows) + len(theirs)))
    tagged = [(row, False) for row in rows] + [(row, True) for row in theirs]
    rng.shuffle(tagged)
    return Table(tuple(fields), tuple(row for row, _ in tagged)), frozenset(
        place for place, (_, is_theirs) in enumerate(tagged) if is_theirs
    )


def _pool_like(palette: Sequence[Any]) -> Sequence[Any]:
    """Return values of the type of a palette, which no type is too narrow for."""
    some = next((value for value in palette if value is not None), None)
    if isinstance(some, bool) or some is None:
        return [some]
    if isinstance(some, str):
        return _WORDS
    if isinstance(some, float):
        return [NAN, 0.0, 1.0, 1.5, 35.0, -1.0]
    if isinstance(some, date):
        return [*_DAYS, some + timedelta(days=0)]
    return [Decimal(1), Decimal("35.000")] if isinstance(some, Decimal) else [0, 1, 2, 7, 35]
