"""Changes to the source that break a promise, each with the tests that must fail on it.

A sabotage is a table in a file of `tests/sabotage/lists`, headed by what goes wrong::

    ["charges are not synced"]
    in = "_file_engine"
    replace = 'connection.execute("PRAGMA synchronous = EXTRA")'
    by = 'connection.execute("PRAGMA synchronous = OFF")'
    tests = "test_charges_are_synced_before_they_return"

``in`` names a function, method, class, constant or attribute (``Class.method``), in whatever module it is. ``replace``
is an expression, a keyword argument or a few statements that occur once in it, and ``by`` takes their place; without
``by`` they are dropped. Both are compared as syntax trees, so layout and comments do not matter. A body ``...`` stands
for any statements, and for the same ones in ``by``. ``tests`` names test functions, in whatever file they are, with
their parameters where one case is enough. If a name is used twice, a part of the path is put before it:
``ledger::Class.method``, or just ``cli::`` for statements of a module that define nothing.
"""

import ast
import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTS = Path(__file__).parent / "lists"
SOURCES = ("src", "reproduction/src")
TESTS = ("tests", "reproduction/tests")

DEFINED = re.compile(r"^ *(?:(?:async )?def|class) (\w+)|^ *(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NESTED = (ast.stmt, ast.excepthandler, ast.match_case)


@dataclass(frozen=True)
class Sabotage:
    """What goes wrong, what is replaced by what in which function, and the tests that see it."""

    name: str
    function: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self):
        """Return the file that is changed, relative to the project, and its text with the change."""
        file, place = self.found()
        return file, place.changed(parsed(file))

    def found(self):
        """Return the file that is changed, relative to the project, and the place in it."""
        hint, _, name = self.function.rpartition("::")
        defined = [
            (file, body, index)
            for file in files_with(name.rpartition(".")[2])
            for body, index, qualified in defined_in(file)
            if hint in file and qualified == name
        ]
        found = [(file, place) for file, body, index in defined for place in places(body, index, self.old, self.new)]
        if len(found) != 1:
            where = ", ".join(dict.fromkeys(file for file, *_ in defined)) or "not found"
            elsewhere = "".join(f"\n{name!r} ({file}) has it once" for name, file in self.elsewhere()[:5])
            message = f"{self.function!r} ({where}) has {len(found)} times, not once:\n{self.old}{elsewhere}"
            raise LookupError(message)
        return found[0]

    def elsewhere(self):
        """Return the functions to which the change could be applied, with their files."""
        found = [
            (name, file)
            for file in files_with("")
            for body, index, name in defined_in(file)
            if isinstance(body[index], FUNCTIONS) and len(list(places(body, index, self.old, self.new))) == 1
        ]
        return [(name, file) for name, file in found if not any((outer, file) in found for outer in outside(name))]

    def node_ids(self):
        """Return the names of its tests with their files, as pytest takes them."""
        return [node_id(test) for test in self.tests]


def outside(name):
    """Return the names of what a nested definition is in."""
    parts = name.split(".")
    return [".".join(parts[:number]) for number in range(1, len(parts))]


def follow():
    """Rewrite the lists where a function was renamed or inlined, and return what was changed."""
    done = []
    for sabotage in sabotages():
        try:
            sabotage.applied()
        except LookupError:
            if len(names := sabotage.elsewhere()) == 1:
                [(name, file)] = names
                for path in LISTS.glob("*.toml"):
                    text = path.read_text("utf-8")
                    head = f'["{sabotage.name}"]\nin = '
                    path.write_text(text.replace(f'{head}"{sabotage.function}"', f'{head}"{name}"'), "utf-8")
                done.append(f"{sabotage.name}: {sabotage.function} is now {name} ({file})")
    return done


def sabotages():
    """Return all sabotages."""
    found = []
    for path in sorted(LISTS.glob("*.toml")):
        for name, row in tomllib.loads(path.read_text("utf-8")).items():
            tests = (row["tests"],) if isinstance(row["tests"], str) else tuple(row["tests"])
            found.append(Sabotage(name, row["in"], row["replace"], row.get("by", ""), tests))
    return found


@functools.cache
def parsed(file):
    """Return the syntax tree of a module."""
    return ast.parse((ROOT / file).read_text("utf-8"))


@functools.cache
def defined_in(file):
    """Return what a module defines."""
    return list(definitions(parsed(file)))


def files_with(name):
    """Return the modules that define a name, and for an empty one all of them."""
    return [file for file, names in _names().items() if not name or name in names]


@functools.cache
def _names():
    paths = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))]
    return {
        str(path.relative_to(ROOT)): {a or b for a, b in DEFINED.findall(path.read_text("utf-8"))} for path in paths
    }


def definitions(node, prefix=""):
    """Yield what a node defines: the list of statements it is in, its index there, and its qualified name."""
    if isinstance(node, ast.Module):
        yield [node], 0, ""
    for _, body in ast.iter_fields(node):
        if not (isinstance(body, list) and body and isinstance(body[0], NESTED)):
            continue
        for index, statement in enumerate(body):
            if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                yield body, index, prefix + statement.name
                yield from definitions(statement, f"{prefix}{statement.name}.")
            else:
                targets = getattr(statement, "targets", [getattr(statement, "target", None)])
                for target in targets:
                    if isinstance(target, ast.Name):
                        yield body, index, prefix + target.id
                yield from definitions(statement, prefix)


@dataclass
class Place:
    """Some nodes of a syntax tree, and what takes their place."""

    parent: ast.AST
    field: str
    index: int | None
    length: int
    new: list

    def around(self, tree):
        """Return the statement of a module that this place is in, as a module; the module where there is none."""
        for statement in tree.body:
            if any(node is self.parent for node in ast.walk(statement)):
                return ast.Module(body=[statement], type_ignores=[])
        return tree

    def changed(self, tree):
        """Return the text of a tree with other nodes in this place; the tree stays as it is."""
        before = getattr(self.parent, self.field)
        if self.index is None:
            setattr(self.parent, self.field, *self.new)
            text = ast.unparse(tree)
            setattr(self.parent, self.field, before)
            return text
        kept = list(before)
        before[self.index : self.index + self.length] = self.new
        if not before and self.field == "body":
            before.append(ast.Pass())
        text = ast.unparse(tree)
        before[:] = kept
        return text


def places(body, index, old, new):
    """Yield the places in a definition that a text is about."""
    for one, other in readings(old, new):
        holder = ast.Module(body=body, type_ignores=[])
        for parent in [holder, *ast.walk(body[index])]:
            for field, value in ast.iter_fields(parent):
                if isinstance(value, list):
                    starts = [index] if value is body else range(len(value))
                    alike = [start for start in starts if type(value[start]) is type(one[0])]
                    spans = [(start, value[start : start + len(one)]) for start in alike]
                else:
                    spans = [(None, [value])] if len(one) == 1 and type(value) is type(one[0]) else []
                for start, nodes in spans:
                    hidden = []
                    if same(one, nodes, hidden):
                        yield Place(parent, field, start, len(one), filled(other, hidden))


def readings(old, new):
    """Yield what two texts can mean: expressions, or else statements; also keyword arguments."""
    one, other = ast.parse(old).body, ast.parse(new).body
    if all(len(nodes) == 1 and isinstance(nodes[0], ast.Expr) for nodes in (one, other)):
        yield [one[0].value], [other[0].value]
        return
    yield one, other
    if all(isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) for node in one + other):
        yield [[ast.keyword(node.targets[0].id, node.value) for node in nodes] for nodes in (one, other)]


def same(old, node, hidden):
    """Whether nodes agree; the statements that a body ``...`` stands for are added to `hidden`."""
    if type(old) is not type(node):
        return False
    if isinstance(old, list):
        if len(old) == 1 and is_gap(old[0]) and node and isinstance(node[0], ast.stmt):
            hidden += node
            return True
        return len(old) == len(node) and all(same(*pair, hidden) for pair in zip(old, node, strict=True))
    if isinstance(old, ast.AST):
        return all(same(getattr(old, name, None), getattr(node, name, None), hidden) for name in old._fields)
    return old == node


def is_gap(node):
    """Whether a node is the statement ``...``."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def filled(nodes, hidden):
    """Return nodes with the hidden statements where they have the statement ``...``."""
    tree = ast.Module(body=list(nodes), type_ignores=[])
    for parent in list(ast.walk(tree)) if hidden else ():
        for field, value in ast.iter_fields(parent):
            if isinstance(value, list) and any(map(is_gap, value)):
                setattr(parent, field, [part for node in value for part in (hidden if is_gap(node) else [node])])
    return tree.body


def node_id(test):
    """Return the name of a test with its file, as pytest takes it."""
    hint, name = re.fullmatch(r"(?:([^\[]*)::)?(.*)", test, re.DOTALL).groups(default="")
    files = [file for file in _tests().get(name.partition("[")[0], ()) if hint in file]
    if len(files) != 1:
        message = f"{test!r} is the name of {len(files)} tests, not of one{': ' if files else ''}{', '.join(files)}"
        raise LookupError(message)
    return f"{files[0]}::{name}"


@functools.cache
def _tests():
    found = {}
    for path in [path for folder in TESTS for path in sorted((ROOT / folder).rglob("test_*.py"))]:
        for name in re.findall(r"^def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE):
            found.setdefault(name, []).append(str(path.relative_to(ROOT)))
    return found
