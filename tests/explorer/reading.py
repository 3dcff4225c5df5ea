"""What results of a view say, as somebody reads them."""

import csv
import io
from html.parser import HTMLParser

from htmltools import TagList

from ggdp.explorer.view import Results


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.found.append(data.strip())


def texts_of(results: Results) -> list[str]:
    """Return the texts of results, from the top down, with the titles and descriptions of figures."""
    reader = _Texts()
    reader.feed(str(TagList(*results.html.values())))
    return reader.found


def said_of(results: Results, name: str) -> str:
    """Return the text that follows a name."""
    texts = texts_of(results)
    return texts[texts.index(name) + 1]


def rows_of(content: bytes) -> list[dict[str, str]]:
    """Return the rows of a CSV file; a line of notice above it begins with a hash."""
    lines = [line for line in io.StringIO(content.decode(), newline="") if not line.startswith("#")]
    return list(csv.DictReader(lines))
