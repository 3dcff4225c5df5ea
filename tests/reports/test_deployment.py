"""Answers of the publisher: what is read, and what is refused."""

from __future__ import annotations

from datetime import date

import pytest

from ggdp.errors import ArgumentError
from ggdp.reports import read_deployment
from ggdp.reports.deployment import QUESTIONS


def test_answers_are_read(answers):
    found = read_deployment(answers())
    assert found.product["published"] == date(2026, 3, 31)
    assert found.curators == ({"name": "Hospital of Médecine", "type": "Nonprofit"},)
    assert found.registry["authors"] == ("The hospital",)
    assert found.answers == {}
    assert found.roles == ("Director", "Data steward")


def test_an_empty_answer_is_no_answer(answers):
    found = read_deployment(answers('[answers]\nunit = "  "\ntiming = " nobody could "\n'))
    assert found.answers == {"timing": "nobody could"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[anwsers]\nunit = 'x'", "'anwsers' is not a key; did you mean 'answers'?"),
        ("[answers]\nsecurty = 'x'", "'securty' is not a key of [answers]; did you mean 'security'?"),
        ("[[curators]]\nnames = 'x'", "'names' is not a key of [curators]; did you mean 'name'?"),
        ("[answers]\nunit = 3", "answers.unit = 3 must be a text"),
        ("[product]\npublished = '2026-03-31'", "product.published = '2026-03-31' must be a date, such as 2026-03-31"),
        ("[product]\npublished = 2026-03-31T10:00:00", "must be a date"),
        ("[product]\nsector = 'Cars'", "product.sector = 'Cars' must be one of 'Technology', 'Healthcare'"),
        ("[registry]\nnumber_of_units = 0", "must be a whole number above 0"),
        ("[registry]\nnumber_of_units = true", "must be a whole number above 0"),
        ("[registry]\nauthors = 'me'", "registry.authors = 'me' must be a list of texts"),
        ("[registry]\nauthors = ['']", "must be a list of texts"),
        ("[curators]\nname = 'x'", "'curators' must be tables, each headed [[curators]]"),
        ("answers = 3", "'answers' must be a table, headed [answers]"),
        ("[answers", "is not a TOML file"),
    ],
)
def test_what_nobody_asks_for_is_refused(answers, text, said):
    with pytest.raises(ArgumentError) as refused:
        read_deployment(answers(text))
    assert refused.value.argument == "deployment"
    assert said in str(refused.value.expected)


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ArgumentError, match=r"none\.toml.*cannot be read"):
        read_deployment(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"[answers]\nunit = '\xe9'")
    with pytest.raises(ArgumentError, match="is not a TOML file"):
        read_deployment(tmp_path / "latin.toml")
    (tmp_path / "long.toml").write_bytes(b"#" * (1 << 21))
    with pytest.raises(ArgumentError, match="at most 1,048,576 bytes are read"):
        read_deployment(tmp_path / "long.toml")


@pytest.mark.parametrize("key", QUESTIONS)
def test_every_question_can_be_answered(answers, key):
    assert read_deployment(answers(f'[answers]\n{key} = "yes"')).answers == {key: "yes"}


@pytest.mark.parametrize(
    "sign", ["\\u0000", "\\u001b[31m", "\\u009b2J", "\\u007f", "\\u202e", "\\u202a", "\\u2066", "\\u2069", "\\ufeff"]
)
@pytest.mark.parametrize(
    "text", ['[answers]\nunit = "one{}"', '[registry]\nauthors = ["a", "b{}"]', '[[sources]]\nurl = "https://a.b/{}"']
)
def test_a_character_that_readers_would_not_see_is_refused(answers, text, sign):
    with pytest.raises(ArgumentError) as refused:
        read_deployment(answers(text.replace("{}", sign)))
    assert "has a control character, or one that changes the direction of text; remove it" in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "JaVaScRiPt://x",
        "//a.b",
        "a.b",
        "https://",
        "https://a b",
        "https://a<b>",
    ],
)
def test_an_address_is_one_of_the_web(answers, url):
    with pytest.raises(ArgumentError, match=r"sources\.url = .* must be an address that begins with https://"):
        read_deployment(answers(f"[[sources]]\nurl = '{url}'"))
    (found,) = read_deployment(answers("[[sources]]\nurl = ' https://a.b/c?d=1#e '")).sources
    assert found == {"url": "https://a.b/c?d=1#e"}


def test_answers_in_other_scripts_and_of_several_lines_are_kept(answers):
    text = "\N{HEBREW LETTER ALEF}\N{RIGHT-TO-LEFT MARK} \N{ARABIC LETTER ALEF}\n\tnext \N{GRINNING FACE}"
    assert read_deployment(answers(f'[answers]\nunit = """{text}"""')).answers == {"unit": text}
