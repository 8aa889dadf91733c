"""The main pages as people see them: beside pictures of them that are kept, at 200 %, on a phone, and in Firefox. Renew the pictures with
Deploy/tests/reference-pictures."""
import json
import os
import shutil
import subprocess

import pytest
from face import MOMENT, stood_still
from firefox import Firefox, firefox_or_skip
from harness import HANG_S, ROOT, Watch, is_long, until

PICTURES = ROOT / "Tests" / "Fixtures" / "pictures"
BYTES_MAX = 8_000_000
HEIGHTS = {390: 844, 1280: 900, 1440: 900}
# Two of each page, so that each width has light and dark ones.
LOOKS = [(1280, "light"), (390, "dark"), (1440, "dark"), (390, "light"), (1440, "light"), (1280, "dark")]
# The colours of streets are drawn by a graphics processor, or by what stands in for one; markers and all else are compared.
STREETS = "document.querySelectorAll('canvas.maplibregl-canvas').forEach((each) => { each.style.visibility = 'hidden'; })"
# When somebody was here last is told by the database's own clock.
TIMES = "document.querySelectorAll('time').forEach((each) => { each.textContent = 'some time'; })"
# Of a text in the page's font: another font breaks lines elsewhere.
FONT = """() => { const drawing = document.createElement('canvas').getContext('2d'); drawing.font = `100px ${getComputedStyle(document.body).fontFamily}`;
    return Math.round(drawing.measureText('Combine, north field 98.5 °C').width); }"""


@pytest.fixture(scope="module")
def still(program, tmp_path_factory):
    with stood_still(program, tmp_path_factory.mktemp("face")) as still:
        yield still


@pytest.fixture
def opening(browser):
    """Windows in which it is the moment; the test fails when a page misbehaved in one."""
    opened = []

    def open_one(width, height, **more):
        context = browser.new_context(viewport={"width": width, "height": height}, locale="en-GB", timezone_id="UTC", reduced_motion="reduce", **more)
        context.set_default_timeout(HANG_S * 1000)
        watch = Watch()
        watch.attach(context)
        opened.append((context, watch))
        page = context.new_page()
        page.clock.set_fixed_time(MOMENT)
        return page

    yield open_one
    for context, _ in opened:
        context.close()
    for _, watch in opened:
        # The page that is missing is asked for.
        watch.console = [line for line in watch.console if "/no-such-page" not in line]
        assert watch.problems() == {}, "a page misbehaved"


def picture(page):
    """Taken again until nothing moves."""
    taken = []

    def is_still():
        taken.append(page.screenshot(full_page=True, animations="disabled"))
        return len(taken) > 1 and taken[-1] == taken[-2]
    until(is_still, about="a page that stands still")
    return taken[-1]


def test_pages_look_as_in_their_pictures(still, opening, screenshots, shared):
    renews = bool(os.environ.get("DROVER_RENEW_PICTURES"))
    judge = shared and shared / "tools" / "web" / "web-check"
    if not renews and (not shutil.which("node") or not judge or not judge.exists()):
        pytest.skip("pictures are compared by ../shared/tools/web/web-check, which needs Node 20 (apt-get install nodejs)")
    known = {} if renews else json.loads((PICTURES / "made.json").read_text())
    page, made, folder, beside = opening(1280, 900), None, PICTURES if renews else screenshots / "now", screenshots / "kept"
    for each in (folder, beside):
        shutil.rmtree(each, ignore_errors=True)
    for number, (name, who, path) in enumerate(still.pages()):
        looks = [LOOKS[number * 2 % 6], LOOKS[(number * 2 + 1) % 6]]
        for width, scheme in looks if renews or is_long() else [looks[number % 2]]:
            page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
            page.emulate_media(color_scheme=scheme)
            still.enter(page, who, path)
            made = made or {"text": page.evaluate(FONT), "chromium": page.context.browser.version.partition(".")[0]}
            if not renews and made["text"] != known["text"]:
                pytest.skip("the pictures have another font than this machine: DejaVu Sans, which Deploy/install installs, where no other font is preferred")
            page.evaluate(STREETS)
            if name == "people":
                page.evaluate(TIMES)
            file = f"{width}/{name}-{scheme}.png"
            for each in (folder / file, beside / file):
                each.parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(picture(page))
            if not renews:
                shutil.copy(PICTURES / file, beside / file)
    if renews:
        (PICTURES / "made.json").write_text(json.dumps(made) + "\n")
        sizes = [path.stat().st_size for path in PICTURES.rglob("*.png")]
        assert len(sizes) == 40 and sum(sizes) <= BYTES_MAX
        return
    # Another browser draws letters and corners a little otherwise.
    run = subprocess.run([judge, "diff", beside, folder, "--out", screenshots / "differs", "--allow", "0.3%" if made == known else "3%", "--threshold", "0.2", "--quiet"],
                         capture_output=True, text=True, timeout=HANG_S)
    assert run.returncode == 0, f"{run.stdout}{run.stderr}\nBefore, now and what differs: {screenshots}. If it is as it should be: Deploy/tests/reference-pictures"


# What is outside of the window and of all that scrolls, and text that its own box cuts; where there are three dots it is meant.
CUT = """() => {
    const clips = (each) => each && each !== document.body && (getComputedStyle(each).overflowX !== 'visible' ? each : clips(each.parentElement));
    const found = [], scrolls = (each) => each && each !== document.body && (/auto|scroll/.test(getComputedStyle(each).overflowX) || scrolls(each.parentElement));
    for (const each of document.querySelectorAll('main *, header.top *, nav.bottom > *')) {
        const has = [...each.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
        if (!has && !each.matches('button, input, select, img') || !each.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
        if (each.closest('.sr, .map, [data-glyphs], figure.chart, svg, .skip')) continue;
        const box = each.getBoundingClientRect(), style = getComputedStyle(each), name = `${each.tagName}.${each.className}: ${each.textContent.trim().slice(0, 40)}`;
        if (box.width < 2 || box.height < 2) continue;
        if ((box.right > innerWidth + 1 || box.left < -1) && !scrolls(each.parentElement)) found.push(`outside: ${name}`);
        const around = clips(each.parentElement);
        if (around && !scrolls(each.parentElement) && getComputedStyle(around).textOverflow !== 'ellipsis' && box.right > around.getBoundingClientRect().right + 1) found.push(`cut by what is around it: ${name}`);
        if (has && style.overflowX !== 'visible' && style.textOverflow !== 'ellipsis' && each.scrollWidth > each.clientWidth + 1) found.push(`cut at its side: ${name}`);
        if (has && style.overflowY === 'hidden' && style.webkitLineClamp === 'none' && style.textOverflow !== 'ellipsis' && each.scrollHeight > each.clientHeight + 3) found.push(`cut below: ${name}`);
    }
    return found;
}"""


@pytest.mark.parametrize("width, height, scale", [(640, 450, 2), (390, 844, 1)], ids=["1280 at 200 percent", "phone"])
def test_nothing_is_cut(still, opening, width, height, scale):
    page = opening(width, height, device_scale_factor=scale)
    faults = {}
    for name, who, path in still.pages():
        still.enter(page, who, path)
        found = page.evaluate(CUT)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append("it scrolls sideways")
        if found:
            faults[name] = found
    assert faults == {}
    # What would be wrong is found.
    page.evaluate("""() => {
        const wide = document.createElement('p'), low = document.createElement('p');
        wide.textContent = low.textContent = 'so many words that they do not fit'.repeat(9);
        Object.assign(wide.style, { overflow: 'hidden', whiteSpace: 'nowrap', width: '80px' });
        Object.assign(low.style, { overflow: 'hidden', height: '10px', width: '300px', transform: 'translateX(500px)' });
        document.querySelector('main').append(wide, low);
    }""")
    assert [line.partition(":")[0] for line in page.evaluate(CUT)] == ["cut at its side", "outside", "cut below"]


@pytest.mark.long(reason="Firefox is 310 MB")
def test_in_firefox_without_webgl_every_page_is_there(still, shared, tmp_path):
    firefox = Firefox(firefox_or_skip(shared), tmp_path)
    try:
        firefox.size(1280, 900)
        firefox.open(still.address + "/login")
        shown, maps, who_is = [], 0, None
        for name, who, path in sorted(still.pages(), key=lambda each: (each[1] or "", each[0])):
            if who != who_is:
                firefox.lend_cookie(still.visitors[who])
                who_is = who
            firefox.open(still.address + path)
            assert firefox.run("document.querySelector('h1')?.textContent.trim() || document.title"), name
            assert not firefox.run("document.documentElement.scrollWidth > innerWidth"), name
            firefox.until("[...document.querySelectorAll('figure.chart')].every((each) => !each.checkVisibility() || each.querySelector('canvas, svg'))")
            # Where a map would be it says that there is none, and the way that somebody drove is a picture.
            for place in range(firefox.run("[...document.querySelectorAll('[data-glyphs]')].filter((each) => each.checkVisibility()).length")):
                firefox.until(f"[...document.querySelectorAll('[data-glyphs]')].filter((each) => each.checkVisibility())[{place}]?.dataset.drawn === 'without'"
                              if name != "trip" else "document.querySelector('main svg polyline, main svg path')")
                maps += 1
            if name == "map":
                assert "This browser cannot draw the map" in firefox.run("document.getElementById('map').textContent")
                assert firefox.run("document.querySelectorAll('#vehicles .item').length") == 5
                firefox.run("document.querySelector('#vehicles .item').click()")
                firefox.until("!document.getElementById('one').hidden && document.getElementById('one').textContent.includes('Combine')")
            shown.append(name)
        assert len(shown) == 20 and maps >= 4
        assert firefox.faults() == [], "".join(firefox.driver.lines)
        firefox.run("console.error('so it is heard', setTimeout(() => { throw new Error('thrown') }))")
        until(lambda: len(firefox.faults()) == 2, firefox.driver)
    finally:
        firefox.close()
