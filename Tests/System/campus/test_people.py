"""The people of a campus: rosters from files, and what operators do with them."""
import csv
import io
import json
import random

from world import query

HEAD = "id,role,name,mail\n"


def take(world, env, tmp_path, text, *more, campus="north"):
    file = tmp_path / "roster.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return world.drover.run("import", "people", file, "--campus", campus, *more, env=env)


def people(world, env, campus="north"):
    return {row["person"]: row for row in json.loads(world.drover.done("people", "list", "--campus", campus, "--format", "json", env=env).out)}


def test_a_roster_is_taken_whole_and_again(world, env, tmp_path):
    roster = HEAD + "g-1,rider,Ada Lovelace,ada@campus.example\nd-1,ride_driver,\"Novák, Petr\",petr@campus.example\n"
    run = take(world, env, tmp_path, roster)
    assert run.code == 0 and "2 people of north: 2 added, 0 changed" in run.err, run.err
    run = take(world, env, tmp_path, roster)
    assert run.code == 0 and "0 added, 0 changed" in run.err
    rows = people(world, env)
    assert rows["d-1"]["name"] == "Novák, Petr" and rows["g-1"]["role"] == "rider" and rows["g-1"]["state"] == "enabled"
    run = take(world, env, tmp_path, HEAD + "g-1,rider,Ada Lovelace,ada@elsewhere.example\n", "--disable-missing")
    assert run.code == 0 and "1 changed, 1 of them with another mail address and signed out, 1 no longer on the roster" in run.err
    rows = people(world, env)
    assert (rows["d-1"]["state"], rows["g-1"]["mail"]) == ("left", "ada@elsewhere.example")
    assert people(world, env, "south") == {}


def test_a_roster_with_a_fault_changes_nothing_and_says_every_line(world, env, tmp_path):
    good = HEAD + "g-1,rider,Ada,ada@campus.example\n"
    assert take(world, env, tmp_path, good).code == 0
    before = people(world, env)
    run = take(world, env, tmp_path, good + "g-1,rider,Twin,t@campus.example\ng-3,boss,B,b@campus.example\ng-4,rider,C,c@campus.example\\nBcc: x\n", "--disable-missing")
    assert run.code == 1
    for said in ("line 3: the id stands in line 2 already", "line 4: `role`", "line 5: `mail`", "nothing was taken over"):
        assert said in run.err, run.err
    for text in (b"", HEAD, good.encode("utf-16"), good.replace("Ada", "Jörg").encode("latin-1"), b"\x00" * 1000, HEAD + '"' * 5000):
        assert take(world, env, tmp_path, text, "--disable-missing").code == 1
    assert people(world, env) == before
    assert take(world, env, tmp_path, good, campus="a b").code == 2
    assert world.drover.run("import", "people", tmp_path / "roster.csv", env=env).code == 2
    assert world.drover.run("import", "people", tmp_path / "nowhere.csv", "--campus", "north", env=env).code == 1


def test_a_check_changes_nothing(world, env, tmp_path):
    run = take(world, env, tmp_path, HEAD + "g-1,rider,Ada,ada@campus.example\n", "--check")
    assert run.code == 0 and "nothing wrong; nothing was changed" in run.err
    assert people(world, env) == {}


def test_a_large_roster_is_as_python_reads_it(world, env, tmp_path):
    chance, out = random.Random(7), io.StringIO()
    writer = csv.DictWriter(out, ["mail", "name", "id", "role", "room"], delimiter=";")
    writer.writeheader()
    expected = {}
    for number in range(20_000):
        name = "".join(chance.choice(['a', 'é', '"', ';', ',', "'", ' b', '李']) for _ in range(8)).strip() or "x"
        expected[f"g-{number}"] = (name, f"g{number}@campus.example", chance.choice(["rider", "ride_driver"]))
        writer.writerow({"id": f"g-{number}", "name": name, "mail": expected[f"g-{number}"][1], "role": expected[f"g-{number}"][2], "room": number})
    run = take(world, env, tmp_path, out.getvalue())
    assert run.code == 0 and "20000 added" in run.err and "room" in run.err, run.err
    rows = query(env, "SELECT person, name, mail, role FROM drover.person")
    assert {row[0]: row[1:] for row in rows} == expected


def test_an_operator_disables_enables_and_signs_out(world, env, tmp_path):
    roster = HEAD + "g-1,rider,Ada,ada@campus.example\n"
    take(world, env, tmp_path, roster)
    query(env, "INSERT INTO drover.person_token (digest, campus, person, device, expires_at) SELECT sha256('x'), 'north', 'g-1', 'phone', now() + interval '1 day'")
    order = lambda *words: world.drover.run("people", *words, "--campus", "north", env=env)
    assert people(world, env)["g-1"]["devices"] == 1
    assert "1 devices of g-1 are signed out" in order("revoke-tokens", "g-1").err
    assert people(world, env)["g-1"]["devices"] == 0
    assert order("disable", "g-1").code == 0
    take(world, env, tmp_path, roster)
    assert people(world, env)["g-1"]["state"] == "disabled", "another import does not undo it"
    assert order("enable", "g-1").code == 0 and people(world, env)["g-1"]["state"] == "enabled"
    for verb in ("disable", "enable", "revoke-tokens"):
        run = order(verb, "nobody")
        assert run.code == 1 and "there is no nobody on the roster of north" in run.err
