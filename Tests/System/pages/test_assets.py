"""What pages load: from this server only, unchanged, kept by browsers, and under a policy that lets no other script run."""
import gzip
import hashlib
import json
import random
import re
import sqlite3
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from certificates import self_signed
from harness import HANG_S, ROOT, lent
from pmtiles.tile import Compression, TileType, tileid_to_zxy
from pmtiles.writer import Writer
from stand_ins import Answering, StandIn

ADDRESS = re.compile(r"at (http://127\.0\.0\.1:\d+/)")
ASSETS = ROOT / "Sources/People/Web/Assets"


@pytest.fixture(scope="module")
def base(world):
    """A database that no test writes to."""
    return world.database()


@pytest.fixture(scope="module")
def served(world, base):
    server = world.drover.start("serve", "--port", "0", env=base)
    yield server.wait_for(ADDRESS).group(1)
    server.stop()


def get(address, method="GET", **headers):
    request = urllib.request.Request(address, method=method, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=HANG_S) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def sums():
    return dict(reversed(line.split(maxsplit=1)) for line in (ASSETS / "SHA256SUMS").read_text().splitlines())


def test_what_others_made_is_as_it_was_taken(served):
    known = sums()
    ours = {ASSETS, *(ASSETS / name for name in ("alerts", "campus", "field", "nature", "vehicles", "words"))}
    of_others = {str(path.relative_to(ASSETS)) for path in ASSETS.glob("**/*") if path.is_file() and
                 (path.parent not in ours or path.name == "natural-earth.json") and path.name != "LICENSE"}
    assert set(known) == of_others
    for name, digest in known.items():
        assert hashlib.sha256((ASSETS / name).read_bytes()).hexdigest() == digest, name
        if name.startswith("streets/"):  # Its tiles are served, not the file.
            continue
        code, headers, body = get(served + "assets/" + urllib.parse.quote(name))
        assert (code, hashlib.sha256(body).hexdigest()) == (200, digest), name
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_texts_come_packed_to_who_takes_that(served):
    for name in ["natural-earth.json", "maplibre/maplibre-gl-csp.js", "pages.css"]:
        address, whole = served + "assets/" + name, (ASSETS / name).read_bytes()
        code, headers, body = get(address, Accept_Encoding="br, gzip;q=0.5")
        assert (code, headers["Content-Encoding"], headers["Vary"]) == (200, "gzip", "Accept-Encoding")
        assert gzip.decompress(body) == whole and len(body) < len(whole) / 2
        # What is packed is another thing to caches.
        plain = get(address, Accept_Encoding="gzip;q=0, identity")[1]
        assert plain["Content-Encoding"] is None and plain["ETag"] != headers["ETag"]
        assert get(address, Accept_Encoding="gzip", If_None_Match=headers["ETag"])[0] == 304


def test_pages_come_packed_unless_another_site_asked(served):
    """What another site puts into an address stands in the page: beside it the length of what is packed would tell of the rest."""
    plain = get(served + "about")[2]
    for site in ("same-origin", "none"):
        code, headers, body = get(served + "about", Accept_Encoding="gzip", Sec_Fetch_Site=site)
        assert (code, headers["Content-Encoding"], gzip.decompress(body)) == (200, "gzip", plain)
        assert "Accept-Encoding, Sec-Fetch-Site" in headers.get_all("Vary") and len(body) < len(plain) / 2
    for headers in ({"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {}):
        code, said, body = get(served + "about", Accept_Encoding="gzip", **headers)
        assert (code, said["Content-Encoding"], body) == (200, None, plain)
    assert get(served + "about", Accept_Encoding="identity", Sec_Fetch_Site="none")[2] == plain


def test_each_asset_has_its_type_and_is_kept_by_its_content(served):
    types = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".png": "image/png", ".json": "application/json"}
    for path in sorted(ASSETS.glob("**/*")):
        if not path.is_file() or path.suffix not in types:
            continue
        address = served + "assets/" + str(path.relative_to(ASSETS))
        code, headers, body = get(address)
        kept = "public, max-age=600" if path.name == "icons.svg" else "no-cache"
        assert (code, headers["Content-Type"], headers["Cache-Control"]) == (200, types[path.suffix], kept), address
        assert body == path.read_bytes()
        assert get(address, If_None_Match=headers["ETag"])[0] == 304
        version = hashlib.blake2b(body, digest_size=32).hexdigest()[:16]
        assert get(f"{address}?v={version}")[1]["Cache-Control"] == "public, max-age=31536000, immutable"
        assert get(f"{address}?v=0000000000000000")[1]["Cache-Control"] == kept


@pytest.mark.parametrize("path", ["assets/", "assets/SHA256SUMS", "assets/README.md", "assets/maplibre/LICENSE", "assets/streets/helsinki.mbtiles", "assets/glyphs/Noto%20Sans%20Regular", "assets/glyphs/Comic%20Sans/0-255.pbf",
                                  "assets/glyphs/Noto%20Sans%20Regular/LICENSE", "assets/%2e%2e/Package.swift",
                                  "assets/maplibre%2fmaplibre-gl.css", "assets/maplibre/../../Package.swift", "assets//etc/passwd"])
def test_nothing_else_is_served(served, path):
    code, headers, _ = get(served + path)
    assert code in (400, 404) and headers["Content-Type"] == "application/problem+json"


def test_the_coarse_map_has_land_lakes_and_borders():
    kinds = {feature["properties"]["kind"]: feature["geometry"] for feature in json.loads((ASSETS / "natural-earth.json").read_text())["features"]}
    assert set(kinds) == {"land", "lake", "border"}
    assert {kind: geometry["type"] for kind, geometry in kinds.items()} == {"land": "MultiPolygon", "lake": "MultiPolygon", "border": "MultiLineString"}

    def holds(polygons, x, y):
        """By the even-odd rule over all rings: holes count as such."""
        crossed = False
        for ring in (ring for polygon in polygons for ring in polygon):
            for (ax, ay), (bx, by) in zip(ring, ring[1:]):
                if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
                    crossed = not crossed
        return crossed

    land, lake = kinds["land"]["coordinates"], kinds["lake"]["coordinates"]
    for name, x, y, is_land, is_lake in [("Karlsruhe", 8.40, 49.01, True, False), ("the North Sea", 3.0, 56.0, False, False),
                                         ("Lake Superior", -87.5, 47.8, True, True), ("Iowa", -93.6, 42.0, True, False), ("the Pacific", -150.0, 0.0, False, False)]:
        assert (holds(land, x, y), holds(lake, x, y)) == (is_land, is_lake), name
    for polygon in land + lake:
        for ring in polygon:
            assert ring[0] == ring[-1] and len(ring) >= 4


def test_no_page_lets_a_script_in(served):
    for path in ["login", "register", "forgot"]:
        code, headers, body = get(served + path)
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "script-src" not in policy, path
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY"


def test_the_style_of_pages_is_allowed_and_no_other(served, page, watch):
    page.goto(served + "login")
    assert page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") != "none"
    shown = page.evaluate("getComputedStyle(document.body).display")
    assert shown != "none"
    page.evaluate("""() => { const style = document.createElement('style'); style.textContent = 'body{display:none}'; document.head.append(style);
        const script = document.createElement('script'); script.textContent = 'window.taken = 1'; document.head.append(script); }""")
    assert page.evaluate("[window.taken ?? null, getComputedStyle(document.body).display]") == [None, shown]
    said = [each for each in watch.console if "Content Security Policy" in each]
    assert len(said) == 2 == len(watch.console)
    watch.forgive()


# The operator's own tiles.

PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000003010100c9fe92ef0000000049454e44ae426082")


def tiles(path, format="png", **metadata):
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE metadata (name text, value text)")
        file.execute("CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob)")
        file.execute("CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)")
        file.executemany("INSERT INTO metadata VALUES (?, ?)", {"name": "Test", "format": format, **metadata}.items())
        for zoom in range(3):
            for column in range(2 ** zoom):
                for row in range(2 ** zoom):
                    file.execute("INSERT INTO tiles VALUES (?, ?, ?, ?)", (zoom, column, row, PNG + f"{zoom}/{column}/{row}".encode()))
    return path


def archive(path, type=TileType.PNG, zooms=3, metadata=None, tile=lambda id, place: PNG + place.encode()):
    """By the format's own library."""
    with open(path, "wb") as file:
        made = Writer(file)
        for id in range(sum(4 ** zoom for zoom in range(zooms))):
            zoom, column, row = tileid_to_zxy(id)
            made.write_tile(id, tile(id, f"{zoom}/{column}/{row}"))
        made.finalize({"tile_type": type, "tile_compression": Compression.NONE, "min_zoom": 0, "max_zoom": zooms - 1, "min_lon_e7": -1_000_000_000, "min_lat_e7": -850_000_000,
                       "max_lon_e7": 1_790_000_000, "max_lat_e7": 850_000_000, "center_zoom": 0, "center_lon_e7": 0, "center_lat_e7": 0}, metadata or {"attribution": "© <a href='https://example.org'>The makers</a>"})
    return path


def test_an_archive_of_tiles_is_read_as_its_own_library_wrote_it(world, base, tmp_path):
    """21,845 tiles of 8 zooms of lengths that no directory packs into its root, so that there are leaves; with stretches of sea, so that
    there are runs and tiles that are kept once."""
    chance = random.Random(4)
    lengths = [chance.randrange(300) for _ in range(21_845)]

    def tile(id, place):
        return b"\x89PNG" + (b"sea" if id % 89 < 7 else place.encode() + bytes(lengths[id]))
    path, known = tmp_path / "map.pmtiles", {}
    archive(path, zooms=8, tile=lambda id, place: known.setdefault(place, tile(id, place)))
    assert int.from_bytes(path.read_bytes()[48:56], "little") > 0, "no leaves"
    server = world.drover.start("serve", "--port", "0", "--set", f"map.tiles_file={path}", env=base)
    address = server.wait_for(ADDRESS).group(1)
    for place in [*chance.sample(sorted(known), 200), *(place for place in known if place[0] < "4")]:
        code, headers, body = get(f"{address}tiles/{place}")
        assert (code, headers["Content-Type"], body) == (200, "image/png", known[place]), place
    for path in ["tiles/8/0/0", "tiles/2/4/0", "tiles/62/1/1"]:
        assert get(address + path)[0] == 204
    server.stop()


def damaged(folder, change):
    path = archive(folder / "damaged.pmtiles")
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return path


def test_tiles_of_the_operator_count_rows_from_the_north(world, base, tmp_path):
    path = tiles(tmp_path / "map.mbtiles", attribution='&copy; <a href="https://example.org">The makers</a>')
    server = world.drover.start("serve", "--port", "0", "--set", f"map.tiles_file={path}", env=base)
    address = server.wait_for(ADDRESS).group(1)
    code, headers, body = get(address + "tiles/2/1/0")
    assert (code, headers["Content-Type"], body) == (200, "image/png", PNG + b"2/1/3")
    assert headers["X-Content-Type-Options"] == "nosniff" and "max-age" in headers["Cache-Control"]
    for path in ["tiles/3/0/0"]:
        assert get(address + path)[0] == 204
    # Outside of the world there is nothing, however large the number.
    for path in ["tiles/2/4/0", "tiles/2/0/-1", "tiles/99/0/0", "tiles/62/1/1", "tiles/64/1/1"]:
        assert get(address + path)[0] == 204, path
    for path in ["tiles/2/x/0", "tiles/2/9999999999999999999999/0", "tiles/2/0", "tiles/%2e%2e/1/1"]:
        assert get(address + path)[0] in (400, 404), path
    server.stop()


@pytest.mark.parametrize("make, said", [
    (lambda folder: tiles(folder / "v.mbtiles", format="tif", attribution="x"), "pbf, png, jpg or webp"),
    (lambda folder: tiles(folder / "n.mbtiles"), "map.attribution"),
    (lambda folder: folder / "none.mbtiles", "unable to open"),
    (lambda folder: ROOT / "README.md", "is neither MBTiles nor PMTiles"),
    (lambda folder: archive(folder / "v.pmtiles", TileType.AVIF), "pbf, png, jpg or webp"),
    (lambda folder: archive(folder / "n.pmtiles", metadata={"name": "x"}), "map.attribution"),
    (lambda folder: damaged(folder, lambda data: data.__delitem__(slice(100, None))), "cut off"),
    (lambda folder: damaged(folder, lambda data: data.__setitem__(7, 2)), "version 3"),
    (lambda folder: damaged(folder, lambda data: data.__setitem__(slice(8, 24), b"\xff" * 16)), "outside"),
    (lambda folder: damaged(folder, lambda data: data.__setitem__(slice(16, 24), b"\xff" * 7 + b"\0")), "too large"),
    (lambda folder: damaged(folder, lambda data: data.__setitem__(slice(127, 140), b"\0" * 13)), "damaged"),
], ids=["unknown", "nameless", "missing", "no database", "unknown archive", "nameless archive", "cut off", "old version", "outside", "huge", "damaged"])
def test_tiles_that_cannot_be_shown_are_said_at_the_start(world, base, tmp_path, make, said):
    world.drover.fails("serve", "--port", "0", "--set", f"map.tiles_file={make(tmp_path)}", env=base, says=said)


def vector(path, packed=True):
    """Streets as tilemaker writes them: packed."""
    with sqlite3.connect(tiles(path, format="pbf", attribution="The makers")) as file:
        file.execute("UPDATE tiles SET tile_data = ?", (gzip.compress(LINES) if packed else LINES,))
    return path


# A vector tile with one line in the layer `transportation`, by the specification 2.1.
LINES = bytes.fromhex("1a210a0e7472616e73706f72746174696f6e120a180222060900000a10002880207802")


@pytest.mark.parametrize("make", [lambda folder: vector(folder / "v.mbtiles"), lambda folder: archive(
    folder / "v.pmtiles", TileType.MVT, tile=lambda id, place: gzip.compress(LINES))], ids=["MBTiles", "PMTiles"])
def test_vector_tiles_come_packed_to_who_takes_that(world, base, tmp_path, make):
    server = world.drover.start("serve", "--port", "0", "--set", f"map.tiles_file={make(tmp_path)}", env=base)
    address = server.wait_for(ADDRESS).group(1) + "tiles/1/1/1"
    code, headers, body = get(address, Accept_Encoding="gzip")
    assert (code, headers["Content-Type"], headers["Content-Encoding"], headers["Vary"]) == (200, "application/vnd.mapbox-vector-tile", "gzip", "Accept-Encoding")
    assert gzip.decompress(body) == LINES and "max-age" in headers["Cache-Control"]
    code, headers, body = get(address)
    assert (code, headers["Content-Encoding"], body) == (200, None, LINES)
    server.stop()


def test_the_city_of_the_sample_is_there_without_settings(served):
    code, headers, body = get(served + "tiles/14/9326/4742", Accept_Encoding="gzip")
    assert (code, headers["Content-Encoding"]) == (200, "gzip")
    streets = gzip.decompress(body)
    assert b"transportation_name" in streets and "Mannerheimintie".encode() in streets
    assert get(served + "tiles/14/0/0")[0] == 204
    code, headers, body = get(served + "about")
    assert "© OpenStreetMap contributors" in body.decode() and "MapLibre" in body.decode()


def test_letters_that_there_are_none_of_stay_away(served):
    code, headers, body = get(served + "assets/glyphs/Noto%20Sans%20Bold/0-255.pbf", Accept_Encoding="gzip")
    assert (code, headers["Content-Encoding"], headers["Cache-Control"]) == (200, "gzip", "no-cache")
    assert gzip.decompress(body) == (ASSETS / "glyphs/Noto Sans Bold/0-255.pbf").read_bytes()
    assert get(served + "assets/glyphs/Noto%20Sans%20Bold/19968-20223.pbf")[0] == 204


# Tiles of a server of others.

class Tiler(StandIn):
    """It knows tiles up to zoom 5, writes down what it was asked, and can be told to answer otherwise."""

    def __init__(self, folder):
        self.certificate, key = self_signed(folder, "tiler")
        self.asked, self.trick, outer = [], None, self

        class Handler(Answering):
            def do_GET(self):
                outer.asked.append((self.path, self.headers["User-Agent"], self.headers["Cookie"]))
                zoom = int(self.path.split("/")[2])
                status, body = outer.trick or ((200, PNG + self.path.encode()) if zoom <= 5 else (404, b"none"))
                self.reply(status, body, "text/html")

        super().__init__(Handler, (self.certificate, key))
        self.settings = ["--set", f"map.tiles_url={self.address}/t/{{z}}/{{x}}/{{y}}.png?key={{key}}", "--set", f"map.tiles_ca_file={self.certificate}",
                         "--set", "map.attribution=The tilers"]


@pytest.fixture
def tiler(tmp_path):
    yield from lent(Tiler(tmp_path))


def test_tiles_of_a_server_come_through_us_and_are_asked_for_once(world, base, tmp_path, tiler, page):
    key = tmp_path / "key"
    key.write_text("s3cret & more\n")
    server = world.drover.start("serve", "--port", "0", *tiler.settings, "--set", f"map.tiles_key_file={key}", "--set", "outside.contact=ops@example.org", env=base)
    address = server.wait_for(ADDRESS).group(1)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: get(address + "tiles/3/2/1", Cookie="drover=secret"), range(48)))
    path = "/t/3/2/1.png?key=s3cret%20%26%20more"
    assert {(code, headers["Content-Type"], body) for code, headers, body in answers} == {(200, "image/png", PNG + path.encode())}
    assert tiler.asked == [(path, "drover (ops@example.org)", None)]
    # Holes are kept, too; outside of the world nobody is asked.
    assert [get(address + "tiles/6/1/1")[0] for _ in range(2)] == [204, 204] and len(tiler.asked) == 2
    assert {get(address + "tiles/" + outside)[0] for outside in ("3/8/0", "3/0/-1", "20/1/1", "62/1/1")} == {204} and len(tiler.asked) == 2
    page.goto(address + "trail-tours")
    assert tiler.asked[0][0] not in page.content() and "s3cret" not in page.content()
    # Pages, broken answers and a server that is down are no tiles; after five it is left alone, and what is known stays.
    for count, trick in enumerate([(200, b"<html><script>pwned=1</script>"), (200, b""), (500, b""), (403, b""), (200, PNG + bytes(2 << 20))]):
        tiler.trick = trick
        answer = get(f"{address}tiles/4/{count}/0")
        assert answer[0] == 503 and json.loads(answer[2])["type"].endswith("tiles-away"), trick
    tiler.trick, asked = None, len(tiler.asked)
    assert get(address + "tiles/4/9/0")[0] == 503 and len(tiler.asked) == asked
    assert get(address + "tiles/3/2/1")[0] == 200
    server.stop()
    assert "s3cret" not in server.output()


@pytest.mark.parametrize("settings, said", [
    (["map.tiles_url=https://tiles.example/{z}/{x}.png", "map.attribution=x"], "{z}, {x} and {y}"),
    (["map.tiles_url=http://tiles.example/{z}/{x}/{y}.png", "map.attribution=x"], "https://"),
    (["map.tiles_url=https://tiles.example/{z}/{x}/{y}.png?key={key}", "map.attribution=x"], "{key}"),
    (["map.tiles_url=https://tiles.example/{z}/{x}/{y}.png", "map.tiles_key=k", "map.attribution=x"], "{key}"),
    (["map.tiles_url=https://tiles.example/{z}/{x}/{y}.png"], "map.attribution"),
    (["map.tiles_url=https://tiles.example/{z}/{x}/{y}.png", "map.tiles_file=x", "map.attribution=x"], "not both")],
    ids=["no row", "plain", "no key", "a key for nothing", "nameless", "both"])
def test_a_tile_address_that_is_none_is_said_at_the_start(world, base, settings, said):
    world.drover.fails("serve", "--port", "0", *[word for setting in settings for word in ("--set", setting)], env=base, says=said)
