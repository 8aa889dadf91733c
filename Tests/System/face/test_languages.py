"""Pages in another language: the template is of the sources' texts, and a language made of it shows what pages say past it."""
import importlib.util
import json
import re
import shutil
import subprocess
import urllib.parse
from html.parser import HTMLParser
from importlib.machinery import SourceFileLoader

import psycopg
import pytest
from harness import PAGE_ADDRESS, ROOT, Drover, scratch
from test_judged import get, pages_of

ASSETS = ROOT / "Sources/People/Web/Assets"
loader = SourceFileLoader("generated_words", str(ROOT / "Deploy/generate/words"))
words = importlib.util.module_from_spec(importlib.util.spec_from_loader("generated_words", loader))
loader.exec_module(words)

# Texts of pages that no catalogue has: lower it as they get fewer.
LEFT_MAX = 400
ACCENTS = str.maketrans("aeiouAEIOU", "áéíóúÁÉÍÓÚ")
# Values, tags and references of characters stay.
MARKS = re.compile(r"(%\d+|</?[a-z]+\d*>|&#?\w+;)")
# Nobody reads what is within, or it is the same in all languages.
UNREAD = {"script", "style", "svg", "code", "kbd", "samp", "pre", "template", "textarea"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# Names, units, formats.
NAMES = set("""Drover OpenStreetMap MapLibre Natural Earth Noto Sans Project Authors Mapbox Helsinki Europe Apache ODbL BSD Clause OFL uPlot Lucide metric kWh min km mi mph psi rpm
    L gal kPa Pa hPa bar UTC CSV XLSX PDF JSON GPX YAML OBD VIN DTC SELECT FROM WHERE contributors""".split())


def pseudo(text):
    return "".join(part if MARKS.fullmatch(part) else part.translate(ACCENTS) for part in MARKS.split(text))


def pseudo_language():
    """A file of gettext's form that says all in accents; its name is Esperanto's."""
    files, plurals, _ = words.places()
    entries = [words.HEADER]
    for text in sorted(files):
        lines = [f"#: {name}" for name in sorted(files[text])] + [f"msgid {words.quoted(text)}"]
        if text in plurals:
            lines += [f"msgid_plural {words.quoted(plurals[text])}", f"msgstr[0] {words.quoted(pseudo(text))}", f"msgstr[1] {words.quoted(pseudo(plurals[text]))}"]
        else:
            lines.append(f"msgstr {words.quoted(pseudo(text))}")
        entries.append("\n".join(lines) + "\n")
    return "\n".join(entries)


def home_with(folder, **languages):
    """A home of links to this one, with languages of its own."""
    for name in ("Queries", "Deploy", "Dashboards", "Tests", "docs"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "Assets" / "words").mkdir(parents=True)
    for path in ASSETS.iterdir():
        if path.name != "words":
            (folder / "Assets" / path.name).symlink_to(path)
    for tag, text in languages.items():
        (folder / "Assets" / "words" / f"{tag}.po").write_text(text)
    return {"DROVER_HOME": str(folder)}


# --- The template


def test_the_template_is_of_the_sources():
    assert (ROOT / words.TEMPLATE).read_text() == words.template(), "run Deploy/generate/words"


def test_no_text_is_kept_in_the_language_of_whoever_came_first():
    assert words.places()[2] == []


@pytest.mark.parametrize("literal, texts", [
    ("<p>A\n  <b>b</b> c</p>", ["A <b>b</b> c"]), ("<a>Home</a> · <a>Search</a>", ["Home", "Search"]), ("<p title=\"T\" data-title=\"x\">1</p>", ["T"]),
    ("<b>A</b>\U000f0000 is <b>\U000f0001</b>", ["<b>A</b>%1 is <b2>%2</b2>"]), ("\U000f0000<span>Text</span>", ["Text"]), ("Home", []), (" aria-label=\"Home\"", ["Home"]),
    ("<p>\U000f0000 · \U000f0001</p>", []), ("<code>Home</code>", []), ("<style>Home</style>", []), ("\" checked>Home</label>", ["Home"]), ("<p>a &lt; b</p>", ["a &lt; b"])])
def test_literals_are_cut(literal, texts):
    assert list(words.runs(literal)) == texts


def test_literals_of_swift_are_found():
    swift = words.Swift('''
        // t("comment")
        let a = t("One \\(two(t("Inner")) ?? "no")") + t(n, one: "\\(n) row", many: "\\(n) rows") + text("not")
        let b: HTML = """
            <p>First \\
            line \\(x.map { "<b>\\($0) in</b>" } ?? "")
              <i>raw \\u{2013} "quoted"</i></p>
            """
        let c = #"<p title="\\#(d)e">f</p>"#
        static let kept = t("Kept")
        static var made: String { t("Made") }
        ''')
    numbered = [words.numbered_phrase(text) for text in swift.texts]
    assert numbered == ["Inner", "One %1", "Kept", "Made"] and swift.kept == ["Kept"]
    assert [tuple(map(words.numbered_phrase, pair)) for pair in swift.plurals] == [("%1 row", "%1 rows")]
    texts = [text for literal in swift.html for text in words.runs(literal)]
    assert texts == ["%1 in", "First line %1 <i>raw – \"quoted\"</i>", "%1e", "f"]


def test_texts_of_scripts_are_found():
    texts, plurals = words.script_texts('''// t("comment")
        show(t("One %1", f(a)), tn(list.length, "%1 row", '%1 rows'), set("not"), t(`Back\\u2019s`));''')
    assert (texts, plurals) == (["One %1", "Back’s"], [("%1 row", "%1 rows")])


# --- Files


def test_check_names_the_languages_and_what_would_break_a_page(program):
    folder, drover = scratch("drover-languages-"), Drover(program)
    try:
        env = home_with(folder, eo='msgid "Home"\nmsgstr "Hejmo"\n')
        assert "languages: ok, English, eo (1 texts)" in drover.run("check", "--offline", env=env).out
        (folder / "Assets/words/fi.po").write_text('msgid "%1 of %2"\nmsgstr "%1"\n')
        run = drover.run("check", "--offline", env=env)
        assert run.code != 0 and "fi.po: line 1: `%1 of %2`: %2 is missing" in run.out
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# --- Pages


class Reader(HTMLParser):
    """The texts of a page that people read, and its language."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.language, self.open = [], None, []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "html":
            self.language = attributes.get("lang")
        if tag not in VOID:
            self.open.append(tag)
        if not UNREAD & set(self.open):
            self.texts += [attributes[name] for name in ("title", "aria-label", "placeholder", "alt") if attributes.get(name)]

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if tag in self.open:
            del self.open[len(self.open) - 1 - self.open[::-1].index(tag):]

    def handle_data(self, data):
        if data.strip() and not UNREAD & set(self.open):
            self.texts.append(data)


def plain_words(text):
    """Words that an accent would stand in, were they translated."""
    return [word for word in re.findall(r"[A-Za-zÀ-ÿ]{2,}", text) if word.isascii() and re.search(r"[aeiouAEIOU]", word)]


def values_of(connection):
    """Words of what the database holds: names, models, rules, species. Texts of mails and of the audit log are ours."""
    known = set()

    def add(value):
        if isinstance(value, str):
            known.update(re.findall(r"[A-Za-z]+", value[:2_000]))
        elif isinstance(value, (dict, list)):
            for each in value.values() if isinstance(value, dict) else value:
                add(each)

    tables = connection.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'drover' AND table_type = 'BASE TABLE'").fetchall()
    for (table,) in tables:
        if not re.search(r"notice|mail|outbox|audit|session|token|reading|minute|state", table):
            for (row,) in connection.execute(f'SELECT to_json(t)::text FROM drover."{table}" t LIMIT 3000').fetchall():
                add(json.loads(row))
    return known


@pytest.mark.long(reason="six hundred pages in two languages")
def test_pages_say_all_in_the_language_of_their_reader(program):
    folder, drover = scratch("drover-languages-"), Drover(program)
    try:
        env = home_with(folder, eo=pseudo_language())
        running = drover.start("up", "--data", folder / "data", "--sample", env=env)
        page_address = running.wait_for(PAGE_ADDRESS).group(0)
        running.wait_for("all of the sample is in")
        port = urllib.parse.urlsplit(page_address).port
        with psycopg.connect(f"host={folder}/data/run dbname=drover user=drover_owner", autocommit=True) as connection:
            known = NAMES | values_of(connection)
        for path in (ROOT / "Deploy/thresholds").rglob("*"):
            if path.suffix in (".yaml", ".yml", ".xml"):
                known.update(re.findall(r"[A-Za-z]+", path.read_text()))
        people = re.findall(r'name="account" value="([^"]+)"', get(port, "/sample", "")[1])
        assert len(people) >= 12
        left, files = {}, {}
        for who in ["", *people]:
            cookie = ""
            if who:
                form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{port}"}
                cookie = get(port, "/sample", "", "POST", f"account={who}", **form)[0].headers["Set-Cookie"].partition(";")[0]
            for path, page in pages_of(port, cookie, **{"Accept-Language": "eo-XX, en;q=0.5"}):
                reader = Reader(page)
                # A report that was made at its time is a file, and so is what is asked for in a format.
                if not re.match(r"/reports/schedules/.|.*[?&]format=(?!html)", path):
                    assert reader.language == "eo", path
                for text in reader.texts:
                    if any(word not in known for word in plain_words(text)):
                        left.setdefault(" ".join(text.split()), f"{who or 'nobody'} {path}")
                for link in re.findall(r'href="([^"]+format=(?:csv|json)[^"]*)"', page)[:2]:
                    address = urllib.parse.urljoin(path, link.replace("&amp;", "&"))
                    if "/export" not in address:  # One export of an account at a time.
                        files.setdefault(address.partition("?")[0], (cookie, address))
        assert files
        for cookie, address in [*files.values(), ("", "/openapi.json"), ("", "/v1/machines"), ("", "/v1/nothing")]:
            bodies = {get(port, address, cookie, Accept="*/*", **{"Accept-Language": language})[1] for language in ("en", "eo", "en")}
            assert len(bodies) == 1, address
        english, esperanto = (get(port, "/about", "", **{"Accept-Language": language}) for language in ("en-GB,fi;q=0.3", "eo"))
        assert 'lang="en"' in english[1] and english[1] != esperanto[1]
        assert "Accept-Language" in (english[0].headers.get_all("Vary") or [])
        # A tag of thousands of parts is no more work than another.
        assert 'lang="eo"' in get(port, "/about", "", **{"Accept-Language": "eo-" + "a-" * 5_000 + "a"})[1]
        script = re.search(r'src="(/words/eo\.js\?v=[0-9a-f]+)"', esperanto[1]).group(1)
        assert "immutable" in get(port, script, "")[0].headers["Cache-Control"] and get(port, script, "")[1].startswith("droverWords({")
        assert "/words/" not in english[1]
        listed = "\n".join(f"{where}: {text[:160]}" for text, where in sorted(left.items(), key=lambda one: one[1]))
        print(f"{len(left)} texts that no catalogue has:\n{listed}")
        assert len(left) <= LEFT_MAX, f"{len(left)} texts\n{listed}"
    finally:
        drover.close()
        shutil.rmtree(folder, ignore_errors=True)


def test_scripts_count_as_their_language_does(tmp_path):
    """words.js by itself, in Node."""
    if not shutil.which("node"):
        pytest.skip("Node is not here")
    rule = ["?", ["==", ["%", "n", 10], 1], 0, ["?", ["&&", [">=", ["%", "n", 10], 2], ["<=", ["%", "n", 10], 4]], 1, 2]]
    given = json.dumps({"rule": rule, "texts": {"%1 row": ["%1 a", "%1 b", "%1 c"], "%1 of %2": ["%2/%1"]}})
    script = (ASSETS / "words.js").read_text() + f"""
        const before = [t("%1 of %2", "%2", 5), tn(1, "%1 row", "%1 rows"), tn(2, "%1 row of %2", "%1 rows of %2", "x")];
        droverWords({given});
        console.log(JSON.stringify([...before, t("%1 of %2", "%2", 5), t("toString"), ...[1, 3, 7, 21].map((n) => tn(n, "%1 row", "%1 rows")), tn(2, "%1 cat", "%1 cats")]));"""
    (tmp_path / "words.cjs").write_text(script)
    run = subprocess.run(["node", tmp_path / "words.cjs"], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == ["%2 of 5", "1 row", "2 rows of x", "5/%2", "toString", "1 a", "3 b", "7 c", "21 a", "2 cats"]
