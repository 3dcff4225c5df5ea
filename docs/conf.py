"""The documentation of ggdp: MyST pages, NumPy docstrings, a bibliography. Built without any network access."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.logging import getLogger

if TYPE_CHECKING:
    from docutils.nodes import math, math_block
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

# The extension and the figures beside this file.
sys.path.insert(0, str(Path(__file__).parent))

project = "ggdp"
author = "the ggdp authors"
copyright = "the ggdp authors, Apache-2.0"
version = release = installed_version("ggdp")

extensions = [
    "command_reference",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinxcontrib.bibtex",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["attrs_inline", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "unsrt"
bibtex_reference_style = "author_year"

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

# Single backquotes in docstrings are names where a name fits, else plain code.
default_role = "py:obj"
nitpicky = True
nitpick_ignore_regex = [("py:obj", ".*")]

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["maths.css"]
html_title = "ggdp"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False


_LOGGER = getLogger(__name__)


# Browsers space a bar, a slash and a minus as between two operands unless told otherwise.
_TIGHT = re.compile(r"<mo([^>]*)>([|‖/])</mo>")
# In a line of text, braces that grow with an exponent push the lines apart.
_BRACE = re.compile(r"<mo([^>]*)>([{}()])</mo>")
_SIGN = re.compile(r"(<mo[^>]*>[({\[]</mo>\s*)<mo>([−+])</mo>")


def _mathml(node: math | math_block, *, as_block: bool) -> str:
    try:
        formula = str(tex2mathml(node.astext(), as_block=as_block))
        if not as_block:
            formula = _BRACE.sub(r'<mo\1 stretchy="false">\2</mo>', formula)
        return _SIGN.sub(r'\1<mo form="prefix">\2</mo>', _TIGHT.sub(r'<mo\1 lspace="0" rspace="0">\2</mo>', formula))
    except MathError as error:
        _LOGGER.warning("this formula cannot be rendered: %s", error, location=node)
        return f"<code>{node.astext()}</code>"


def _inline_math(translator: HTML5Translator, node: math) -> None:
    translator.body.append(_mathml(node, as_block=False))
    raise SkipNode


def _block_math(translator: HTML5Translator, node: math_block) -> None:
    translator.body.append(f'<div class="math">{_mathml(node, as_block=True)}</div>\n')
    raise SkipNode


def _keep_absolute_values(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Escape the bars of |x| in docstrings, which reStructuredText would take for substitutions."""
    for index, line in enumerate(lines):
        if "|" in line and "``" not in line and not line.lstrip().startswith((">>>", "...")):
            lines[index] = line.replace("|", r"\|")


def _draw_figures(app: Sphinx) -> None:
    """Draw the figures of the pages; but for the README's, no picture is kept under version control."""
    from draw_figures import draw_pages

    draw_pages(Path(app.srcdir) / "figures")


def setup(app: Sphinx) -> None:
    """Draw the figures, and render formulas as MathML, which browsers show by themselves without a script."""
    app.connect("builder-inited", _draw_figures)
    app.add_html_math_renderer("mathml", inline_renderers=(_inline_math, None), block_renderers=(_block_math, None))
    # After numpydoc, which works on the plain text.
    app.connect("autodoc-process-docstring", _keep_absolute_values, priority=900)
