"""Text files are read by their encoding and delimiter as they are declared, every record a row."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.sources.zoo import KEY

from ggdp.cli.app import run
from ggdp.domain.table_domain import Domain
from ggdp.errors import ArgumentError
from ggdp.sources import text_files
from ggdp.sources.query import CountQuery, open_source
from ggdp.sources.text_files import TextFormat

TOWNS = Domain({"town": {"levels": ["Kehl", "Zürich", "Łódź"], "other": "other", "missing": "none"}})
OTHER = 3


def tally(path, **text):
    with open_source(path, columns=["town"], text=TextFormat(**text)) as source:
        ((cells, counts),) = source.count(CountQuery(marginals=(TOWNS,)))
    return dict(zip(cells.tolist(), counts.tolist(), strict=True))


@pytest.mark.parametrize("chunk", [1, 7, 1 << 22])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "iso8859-15", "utf-16", "utf-16-be", "utf-32"])
def test_every_record_is_a_row_in_its_encoding(tmp_path, monkeypatch, encoding, chunk):
    monkeypatch.setattr(text_files, "CHUNK", chunk)
    path = tmp_path / "t.csv"
    path.write_bytes("id;town\n1;Kehl\n2;Zürich\n3;Zürich\n".encode(encoding))
    assert tally(path, encoding=encoding, delimiter=";") == {0: 1, 1: 2}


def test_rows_in_another_encoding_than_the_declared_one_are_other_rows_not_none(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"id,town\n" + "1,Zürich\n2,Kehl\n".encode("latin-1") * 50)
    assert tally(path) == {0: 50, OTHER: 50}
    assert tally(path, encoding="latin-1") == {0: 50, 1: 50}


def test_a_field_that_is_not_valid_text_is_no_unit(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"id,town\n\xff,Kehl\n\xfe,Kehl\n1,Kehl\n")
    with open_source(path, columns=["id", "town"]) as source:
        ((_, counts),) = source.count(CountQuery(marginals=(TOWNS,), unit="id", key=KEY))
    assert counts.tolist() == [1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ({"encoding": "utf-7"}, "record by record"),
        ({"encoding": "shift_jis"}, "record by record"),
        ({"encoding": "rot13"}, "record by record"),
        ({"encoding": "no such thing"}, "is unknown"),
        ({"encoding": 8}, "name of an encoding"),
        ({"delimiter": ""}, "one ASCII character"),
        ({"delimiter": "ab"}, "one ASCII character"),
        ({"delimiter": '"'}, "one ASCII character"),
        ({"delimiter": "\n"}, "one ASCII character"),
        ({"delimiter": "§"}, "one ASCII character"),
        ({"longest": 0}, "at least 1"),
        ({"strict_lines": 1}, "must be True or False"),
    ],
)
def test_what_cannot_be_read_record_by_record_is_refused(text, said):
    with pytest.raises(ArgumentError, match=said):
        TextFormat(**text)


def test_a_delimiter_or_encoding_is_refused_where_a_format_has_none(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"{}\n")
    with pytest.raises(ArgumentError, match="applies to CSV files"):
        tally(path, delimiter=";")


def test_bytes_that_an_encoding_does_not_have_are_no_unit_and_match_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"id,town\n\x81,Kehl\n\x8d,Kehl\n1,Kehl\n2,K\x81ehl\n")
    text = TextFormat(encoding="cp1252")
    with open_source(path, columns=["id", "town"], text=text) as source:
        ((cells, counts),) = source.count(CountQuery(marginals=(TOWNS,), unit="id", key=KEY))
    assert dict(zip(cells.tolist(), counts.tolist(), strict=True)) == {0: 1, OTHER: 1}


def test_halves_of_surrogate_pairs_are_no_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("id,town\n1,Kehl\n2,K\ud800ehl\n".encode("utf-16-le", "surrogatepass"))
    assert tally(path, encoding="utf-16-le") == {0: 1, OTHER: 1}


def test_a_quote_that_is_escaped_or_that_nobody_quoted_swallows_no_record_in_its_own_dialect(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'town,note\nKehl,"he said \\"no\\","\n' + b"Kehl,x\n" * 5)
    assert tally(path, escape="\\") == {0: 6}
    path.write_bytes(b'town,note\nKehl,"oops\n' + b"Kehl,x\n" * 5 + b'Kehl,"\n')
    assert tally(path, quoted=False) == {0: 7}


def test_an_id_is_the_same_unit_as_pandas_writes_it_beside_a_missing_one(tmp_path):
    (tmp_path / "1.csv").write_text("id,town\n7,Kehl\n8,Kehl\n")
    (tmp_path / "2.csv").write_text("id,town\n7.0,Kehl\n8.0,Kehl\n,Kehl\n")
    with open_source(tmp_path / "*.csv", columns=["id", "town"]) as source:
        ((_, counts),) = source.count(CountQuery(marginals=(TOWNS,), unit="id", key=KEY))
    assert counts.tolist() == [2]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16", "utf-32-le"])
def test_with_strict_lines_files_of_every_line_end_are_read_alike(tmp_path, end, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(end.join(["id,town", "1,Kehl", '2,"Zürich"', '3,"Kehl', "4,Kehl", ""]).encode(encoding))
    assert tally(path, encoding=encoding, strict_lines=True) == {0: 3, 1: 1}


def test_with_strict_lines_an_unpaired_surrogate_does_not_swallow_its_line_end(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("id,town\n1,Kehl\ud800\n2,Kehl\n".encode("utf-16-le", "surrogatepass"))
    assert tally(path, encoding="utf-16-le", strict_lines=True) == {0: 1, OTHER: 1}


@pytest.mark.parametrize("options", [{}, {"strict_lines": True}])
def test_files_that_end_without_a_line_end_are_not_joined(tmp_path, options):
    (tmp_path / "1.csv").write_text("id,town\n1,Kehl")
    (tmp_path / "2.csv").write_text("\ufeffid,town\n2,Kehl")
    assert tally(tmp_path / "*.csv", **options) == {0: 2}


def test_with_strict_lines_a_file_that_was_joined_to_another_spoils_only_its_own_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,town\n1,Kehl\n\ufeffid,town\n2,Kehl\n")
    assert tally(path, strict_lines=True) == {0: 2, OTHER: 1}


def test_with_strict_lines_a_blank_line_is_no_record_in_a_file_of_one_column_either(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('town\nKehl\n\n""\n')
    assert tally(path) == {0: 1, OTHER + 1: 2}
    assert tally(path, strict_lines=True) == {0: 1, OTHER + 1: 1}


@pytest.mark.parametrize(
    ("header", "options"), [('id,"town\nx"', {}), ('id,"town', {}), ("id,town\\", {"escape": "\\"})]
)
def test_with_strict_lines_a_header_is_one_line_whatever_the_rows_are(tmp_path, header, options):
    path = tmp_path / "t.csv"
    said = set()
    for rows in ("", "1,Kehl\n", '1,"Kehl"\n', '"\n'):
        path.write_text(f"{header}\n{rows}")
        with pytest.raises(ArgumentError, match="must be one line") as refused:
            tally(path, strict_lines=True, **options)
        said.add(str(refused.value))
    assert len(said) == 1


def test_strict_lines_are_refused_where_a_format_has_none(tmp_path):
    pq.write_table(pa.table({"town": ["Kehl"]}), tmp_path / "t.parquet")
    with pytest.raises(ArgumentError, match="strict_lines = True: is for text files"):
        tally(tmp_path / "t.parquet", strict_lines=True)


def test_strict_lines_are_in_a_manifest_only_if_they_are_declared():
    assert "strict_lines" not in TextFormat().to_dict()
    assert TextFormat(strict_lines=True).to_dict() == {**TextFormat().to_dict(), "strict_lines": True}


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_header_in_another_encoding_is_answered_with_what_to_pass(tmp_path, capsys, encoding):
    (tmp_path / "a.csv").write_text("Größe,b\n1,2\n", encoding=encoding)
    asked = ["check", str(tmp_path / "a.csv")]
    assert run(asked) == 1
    assert "text in utf-8; pass the --encoding of its program, often latin-1, cp1252" in capsys.readouterr().err
    assert run([*asked, "--encoding", encoding]) == 0
    assert "Größe" in capsys.readouterr().out
