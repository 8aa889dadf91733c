"""Deploy/street-map: an extract of OpenStreetMap becomes a street map that pages give out."""
import gzip
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import urllib.request

import pytest
from harness import HANG_S, ROOT

SCRIPT = ROOT / "Deploy/street-map"
ADDRESS = re.compile(r"at (http://127\.0\.0\.1:\d+/)")
BOX = (24.94, 60.165, 24.95, 60.175)

# A street with a name, one that was cut (node 99 is missing), and a park of a way that is there and one that is not.
EXTRACT = """<?xml version="1.0"?><osm version="0.6"><bounds minlon="24.94" minlat="60.165" maxlon="24.95" maxlat="60.175"/>
<node id="1" version="1" lon="24.941" lat="60.166"/><node id="2" version="1" lon="24.945" lat="60.170"/><node id="3" version="1" lon="24.949" lat="60.174"/>
<node id="4" version="1" lon="24.949" lat="60.166"/>
<way id="10" version="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><tag k="highway" v="primary"/><tag k="name" v="Whole street"/></way>
<way id="11" version="1"><nd ref="1"/><nd ref="99"/><tag k="highway" v="primary"/><tag k="name" v="Cut street"/></way>
<way id="12" version="1"><nd ref="1"/><nd ref="3"/><nd ref="4"/><nd ref="1"/></way>
<relation id="20" version="1"><member type="way" ref="12" role="outer"/><member type="way" ref="98" role="outer"/>
<tag k="type" v="multipolygon"/><tag k="leisure" v="park"/></relation></osm>"""


def run(*words):
    return subprocess.run([SCRIPT, *map(str, words)], capture_output=True, text=True, timeout=HANG_S * 10)


def test_it_says_how_it_is_used_and_what_is_wrong(tmp_path):
    told = run("--help")
    assert told.returncode == 0 and "example: Deploy/street-map" in told.stdout and "map.tiles_file" in told.stdout
    for words in [(), (tmp_path / "x.pbf",), ("a.osm.pbf", "b", "c")]:
        assert run(*words).returncode == 2
    missing = run(tmp_path / "none.osm.pbf")
    assert missing.returncode == 1 and "cannot be read" in missing.stderr
    (tmp_path / "a.osm.pbf").write_bytes(b"")
    (tmp_path / "a.mbtiles").write_bytes(b"mine")
    there = run(tmp_path / "a.osm.pbf")
    assert there.returncode == 1 and "is there already" in there.stderr and (tmp_path / "a.mbtiles").read_bytes() == b"mine"


def test_the_layers_want_nothing_that_is_not_in_an_extract():
    layers = json.loads((ROOT / "Deploy/streets/tilemaker.json").read_text())["layers"]
    assert {"transportation", "transportation_name", "building", "water", "park", "place"} <= set(layers)
    assert not any("source" in layer for layer in layers.values())


@pytest.fixture(scope="module")
def reader():
    """A Python with osmium."""
    if not shutil.which("tilemaker"):
        pytest.skip("needs tilemaker: apt-get install tilemaker")
    python = ROOT / ".drover/venv-streets/bin/python"
    if not python.exists() or subprocess.run([python, "-c", "import osmium"], capture_output=True).returncode:
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True, timeout=HANG_S * 10)
        made = subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", ROOT / "Deploy/setup/requirements-streets.txt"],
                              capture_output=True, text=True, timeout=HANG_S * 10)
        if made.returncode:
            pytest.skip(f"needs PyPI's osmium: {made.stderr[-200:]}")
    return python


def test_a_cut_extract_becomes_a_map_that_is_given_out(world, reader, tmp_path):
    extract, streets = tmp_path / "town.osm.pbf", tmp_path / "town.mbtiles"
    (tmp_path / "town.osm").write_text(EXTRACT)
    subprocess.run([reader, "-c", "import osmium, sys\nhead = osmium.io.Reader(sys.argv[1]).header()\nw = osmium.SimpleWriter(sys.argv[2], header=head)\n"
                    "for o in osmium.FileProcessor(sys.argv[1]): w.add(o)\nw.close()", tmp_path / "town.osm", extract], check=True, timeout=HANG_S)
    made = run(extract)
    assert made.returncode == 0, made.stderr
    assert f"map.tiles_file to {streets}" in made.stderr and not list(tmp_path.glob("street-map.*"))
    with sqlite3.connect(streets) as file:
        told = dict(file.execute("SELECT name, value FROM metadata"))
        all_tiles = b"".join(gzip.decompress(tile) for [tile] in file.execute("SELECT tile_data FROM tiles"))
    assert tuple(map(float, told["bounds"].split(","))) == BOX
    assert (told["format"], told["attribution"]) == ("pbf", "© OpenStreetMap contributors")
    assert b"Whole street" in all_tiles and b"Cut street" not in all_tiles
    server = world.drover.start("serve", "--port", "0", "--set", f"map.tiles_file={streets}", env=world.database())
    address = server.wait_for(ADDRESS).group(1)
    with urllib.request.urlopen(address + "tiles/14/9327/4742", timeout=HANG_S) as answer:
        assert answer.headers["Content-Type"] == "application/vnd.mapbox-vector-tile" and b"Whole street" in answer.read()
    server.stop()
