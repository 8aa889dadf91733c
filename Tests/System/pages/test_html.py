"""Pages are values of the type HTML (Sources/Domain/Presentation/HTML.swift), which escapes what it is not told to trust: the sources have no other way."""
import re

import pytest
from harness import ROOT

SOURCES = {path.relative_to(ROOT / "Sources").as_posix(): path.read_text() for path in sorted((ROOT / "Sources").rglob("*.swift"))}
LITERAL = re.compile(r'"""\n.*?"""|"(?:\\.|[^"\\\n])*"', re.S)
TAG = r"</?[a-z][a-z0-9]*[ >\\/]"


def files(pattern):
    return {name for name, text in SOURCES.items() if re.search(pattern, text)}


def at_home(names):
    """Whatever folder they lie in."""
    return {name.rpartition("/")[2] for name in names}


def test_text_is_escaped_in_one_place():
    """XML has escapers of its own: it has other rules for what may not stand in it at all."""
    assert at_home(files(r"&lt;")) == {"HTML.swift", "XMLRPC+Write.swift", "ThresholdEdit.swift"}
    assert at_home(files(r"&quot;|&#39;")) == {"HTML.swift", "LiteralText.swift", "TileFile.swift"}


def test_what_is_html_becomes_text_only_where_it_goes_out():
    """A page, a mail, a report's file; a sheet's cells, whose XML is escaped alike; the part of a page that stands beside the figures of a trial."""
    assert at_home(files(r"\.markup\b")) == {"HTML.swift", "PagePolicy.swift", "ReportOutput.swift", "NoticeRelay.swift", "RuleTrialView.swift"}


def test_only_html_is_answered_as_html():
    """`Response.page` takes HTML and nothing else; the others look for the type, or name it to mail."""
    assert at_home(files(r'"text/html')) == {"Response.swift", "PagePolicy.swift", "RefusalView.swift", "ReportOutput.swift", "MailMessage.swift", "PackedPage.swift"}
    assert re.search(r"static func page\(_ html: HTML,", SOURCES[next(name for name in SOURCES if name.endswith("/PagePolicy.swift"))])


@pytest.mark.parametrize("name", sorted(files(TAG)))
def test_values_stand_in_quotes(name):
    """Without them a blank would end an attribute; no attribute is a script, and none stands in a page."""
    literals = "\n".join(LITERAL.findall(SOURCES[name]))
    assert not re.search(r"<[a-z][^<>]*\s[a-z-]+=\\\(", literals)
    assert not re.search(r"<[a-z][^<>]*\son[a-z]+=", literals)
    assert not re.search(r"<script(?![^<>]*\ssrc=)", literals)
    assert not re.search(r"javascript:|data:text", literals)


def returned_texts(text):
    """The heads of functions and properties of type String, with their bodies."""
    for match in re.finditer(r"(?:->|:) String\?? \{", text):
        at, depth = match.end(), 1
        for piece in re.finditer(LITERAL.pattern + r"|[{}]", text[at:], re.S):
            depth += {"{": 1, "}": -1}.get(piece.group(), 0)
            if depth == 0:
                yield text[text.rfind("\n", 0, match.start()) + 1:at].strip(), text[at:at + piece.start()]
                break


@pytest.mark.parametrize("folder", ["Web", "Delivery", "Reports"])
def test_no_function_makes_html_as_text(folder):
    """It would be escaped where it ends up, and people would read its tags. Sheets and GPX are XML."""
    wrong = [f"{name}: {head}" for name, text in SOURCES.items() if re.search(rf"(?:^|/)(?:{folder})/", name) and not name.endswith(("/TripExport.swift", "/Spreadsheet.swift"))
             for head, body in returned_texts(text) if any(re.search(TAG, literal) for literal in LITERAL.findall(body))]
    assert wrong == []


def untyped(text):
    """Literals that a variable without a type is made of, by itself or by a choice: texts."""
    for match in re.finditer(r"\b(?:let|var) \w+ =(?=\s)", text):
        at = match.end()
        while (literal := LITERAL.search(text, at)) and re.fullmatch(r"(?:(?!\n\s*(?:let|var|return|func)\b)[^{}])*?(?:^|\s[?:]|\?\?)\s*", text[at:literal.start()]):
            yield literal.group()
            at = literal.end()
            if not re.match(r"\s*(?::|\?\?)\s", text[at:]):
                break


@pytest.mark.parametrize("folder", ["Web", "Delivery", "Reports"])
def test_what_is_made_of_tags_has_the_type_html(folder):
    """`let more = "<p>…"` is a text: said to be HTML it is what was meant."""
    wrong = [f"{name}: {literal}" for name, text in SOURCES.items() if re.search(rf"(?:^|/)(?:{folder})/", name) and not name.endswith(("/TripExport.swift", "/Spreadsheet.swift"))
             for literal in untyped(text) if re.search(TAG, literal)]
    assert wrong == []


def test_a_text_of_tags_is_found():
    assert list(untyped('let a = "<p>"\nlet b = c.d(.e) && f ? "" : "<i>x</i>"\nlet g = h ?? "<b>"\nlet i: HTML = "<u>"\nlet j = k("<s>", l: "<q>")')) == ['"<p>"', '""', '"<i>x</i>"', '"<b>"']
