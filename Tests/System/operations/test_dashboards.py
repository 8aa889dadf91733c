"""Dashboards for Grafana: every panel asks something that there is, of real servers."""
import json
import re
import shutil
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal

import psycopg
import pytest
import yaml
from analysis import filled, psql_login, world  # noqa: F401 (fixtures)
from brokers import Noida
from harness import DIES_WITH_US, HANG_S, ROOT, free_port, until
from test_gateway import gateway
from world import connect, query

FILES = sorted((ROOT / "Dashboards").glob("*.json"))
UNITS = {"none", "short", "lengthkm", "lengthm", "litre", "gallons", "percentunit", "celsius", "pressurekpa", "h", "s", "ms", "bytes", "reqps", "volt"}
FROM, TO = "2010-01-01T00:00:00Z", "2026-10-01T00:00:00Z"
# What no process has said or nobody has asked in these tests; it must run nevertheless.
MAY_BE_EMPTY = {("operations", "Services of others"), ("machines", "Open alerts"), ("fleet", "Silent machines")}


def dashboards():
    return {path.stem: json.loads(path.read_text()) for path in FILES}


def panels(kind):
    return [(name, panel["title"], target) for name, each in dashboards().items() for panel in each["panels"] for target in panel["targets"] if kind in target["datasource"]["type"]]


def test_each_file_is_a_dashboard_that_grafana_takes():
    found = dashboards()
    assert set(found) == {"fleet", "machines", "cars", "dispatch", "sightings", "operations"}
    assert len({each["uid"] for each in found.values()}) == len({each["title"] for each in found.values()}) == len(found)
    for name, each in found.items():
        assert each["schemaVersion"] >= 36 and re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", each["uid"]) and each["description"] and {"from", "to"} <= set(each["time"])
        variables = {variable["name"]: variable for variable in each["templating"]["list"]}
        titles = [panel["title"] for panel in each["panels"]]
        assert len(set(titles)) == len(titles) and len({panel["id"] for panel in each["panels"]}) == len(titles)
        taken = set()
        for panel in each["panels"]:
            assert panel["type"] in ("timeseries", "table", "stat", "geomap") and panel["description"].endswith("."), panel["title"]
            units = [panel["fieldConfig"]["defaults"]["unit"]] + [p["value"] for o in panel["fieldConfig"]["overrides"] for p in o["properties"] if p["id"] == "unit"]
            assert set(units) <= UNITS, (name, panel["title"])
            # Nothing lies over another panel or sticks out.
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            assert place["x"] + place["w"] <= 24 and not cells & taken
            taken |= cells
            assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]) >= 1
            for target in panel["targets"]:
                source = re.fullmatch(r"\$\{(\w+)\}", target["datasource"]["uid"]).group(1)
                assert variables[source]["type"] == "datasource" and variables[source]["query"] == target["datasource"]["type"] == panel["datasource"]["type"]
                used = set(re.findall(r"\$\{(\w+)(?::\w+)?\}", target.get("rawSql", "")))
                assert used <= set(variables), used
        # What can be chosen is used.
        text = json.dumps(each["panels"])
        assert all("${" + variable in text for variable in variables), name


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def expanded(sql, chosen=""):
    """Grafana's macros and variables as its documentation of the PostgreSQL data source has them."""
    def seconds(interval):
        number, unit = re.fullmatch(r"'?(\d+)([smhd])'?", interval.strip()).groups()
        return int(number) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit]
    sql = sql.replace("$__interval", "1h")
    sql = re.sub(r"\$__timeFilter\(([\w.]+)\)", rf"\1 BETWEEN '{FROM}' AND '{TO}'", sql)
    sql = re.sub(r"\$__timeGroup\(([\w.]+),\s*([^)]+)\)", lambda m: f"floor(extract(epoch from {m[1]})/{seconds(m[2])})*{seconds(m[2])}", sql)
    sql = sql.replace("$__timeFrom()", literal(FROM)).replace("$__timeTo()", literal(TO))
    sql = re.sub(r"\$\{(\w+):sqlstring\}", literal(chosen), sql)
    assert "$" not in sql, sql
    return sql


@pytest.mark.parametrize("name, title, target", panels("postgres"), ids=lambda value: value if isinstance(value, str) else "")
def test_a_panel_asks_the_database_and_is_answered(filled, name, title, target):
    with connect(filled) as connection:
        connection.execute("SET ROLE drover_reader")
        with connection.cursor() as cursor:
            rows = cursor.execute(expanded(target["rawSql"])).fetchall()
            columns = [column.name for column in cursor.description]
        assert any(value is not None for row in rows for value in row) or (name, title) in MAY_BE_EMPTY, "no row"
        if target["format"] == "time_series":
            # Grafana wants times in order, and numbers; a column `metric` names the series.
            times = [row[0] for row in rows]
            assert columns[0] == "time" and times == sorted(times)
            assert all(isinstance(row[0], datetime) or float(row[0]) > 1e9 for row in rows)
            for index, column in enumerate(columns[1:], 1):
                assert all((isinstance(row[index], str) if column == "metric" else row[index] is None or isinstance(row[index], (int, float, Decimal))) for row in rows), column
            keys = [(row[0], row[1] if columns[1] == "metric" else "") for row in rows]
            assert len(set(keys)) == len(keys), "two values of one time and series"
        # What somebody writes into a variable is a value.
        assert connection.execute(expanded(target["rawSql"], "x' OR true --")).fetchall() is not None


@pytest.mark.parametrize("name", [path.stem for path in FILES])
def test_what_can_be_chosen_is_in_the_database(filled, name):
    for variable in dashboards()[name]["templating"]["list"]:
        if variable["type"] != "query":
            continue
        with connect(filled) as connection:
            connection.execute("SET ROLE drover_reader")
            cursor = connection.execute(variable["query"])
            assert [column.name for column in cursor.description] == ["__value", "__text"]
            values = [row[0] for row in cursor.fetchall()]
            assert values[0] == "" and len(values) == len(set(values)) >= 3
            counts = {}
            for value in values:
                counts[value] = sum(len(connection.execute(expanded(target["rawSql"], value)).fetchall()) for each, _, target in panels("postgres")
                                    if each == name and target["format"] == "table" and "LIMIT" in target["rawSql"])
            assert all(counts[""] >= count for count in counts.values()) and counts[values[1]] > 0


def test_a_persons_login_fills_the_panels_with_what_they_see(world, filled):
    north = {row[0] for row in query(filled, "SELECT vehicle FROM drover.fleet_vehicle WHERE fleet = 'north'")}
    asked = 0
    with psycopg.connect(psql_login(filled, "anna"), autocommit=True) as connection:
        for name, title, target in panels("postgres"):
            if name == "operations":
                continue
            cursor = connection.execute(expanded(target["rawSql"]))
            columns = [column.name for column in cursor.description]
            rows = cursor.fetchall()
            if name == "dispatch":
                assert all(value in (None, 0) for row in rows for value in row), title
            elif "vehicle" in columns or ("metric" in columns and "vehicle AS metric" in target["rawSql"]):
                index = columns.index("vehicle" if "vehicle" in columns else "metric")
                assert {row[index] for row in rows} <= north, title
                asked += bool(rows)
    assert asked >= 8


# MARK: Prometheus

@contextmanager
def prometheus(folder, targets):
    """Debian's, with the configuration that ships, in more of a hurry."""
    program = shutil.which("prometheus")
    assert program, "prometheus is missing: apt-get install prometheus"
    config = yaml.safe_load((ROOT / "Deploy" / "grafana" / "prometheus.yaml").read_text())
    [job] = config["scrape_configs"]
    assert job["job_name"] == "drover"
    config["global"]["scrape_interval"] = "1s"
    job["static_configs"] = [{"targets": targets}]
    config["rule_files"] = [str(ROOT / rules.removeprefix("/opt/drover/")) for rules in config["rule_files"]]
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    port = free_port()
    log = (folder / "prometheus.log").open("w")
    process = subprocess.Popen([*DIES_WITH_US, program, f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        def ask(path, **values):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}?" + urllib.parse.urlencode(values), timeout=HANG_S) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                return json.load(error)
        def ready():
            try:
                return urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=HANG_S).status == 200
            except OSError:
                assert process.poll() is None, (folder / "prometheus.log").read_text()
        until(ready)
        # The alert rules that ship are loaded, none of them wrong.
        assert [len(group["rules"]) > 5 for group in ask("/api/v1/rules")["data"]["groups"]] == [True]
        yield ask
    finally:
        process.terminate()
        process.wait(HANG_S)
        log.close()


def test_every_figure_is_one_that_a_process_tells(world, drover, fixtures, tmp_path):
    """A worker, a relay, a gateway and the page, read by a real Prometheus."""
    # The log of the module's broker has much that is not asked for here.
    broker = Noida(tmp_path / "broker")
    drover.started.append(broker)
    env = world.database() | {"DROVER_KAFKA_BROKERS": broker.brokers}
    ports = [free_port() for _ in range(4)]
    with connect(env) as connection:
        connection.execute("GRANT drover_relay TO CURRENT_USER")
    worker = world.worker(env, "figures", **{"metrics.port": ports[0]})
    running = [worker, drover.start("notify", "--set", f"metrics.port={ports[1]}", env=env),
               drover.start("serve", "--port", "0", "--set", f"metrics.port={ports[2]}", env=env), gateway(world, env, tmp_path, **{"metrics.port": ports[3]})]
    targets = [f"127.0.0.1:{port}" for port in ports]
    with prometheus(tmp_path, targets) as ask:
        drover.done("import", "machines", fixtures / "machines" / "readings.jsonl", env=env)
        world.work_off(env)
        def instant(query):
            answer = ask("/api/v1/query", query=query)
            assert answer["status"] == "success", (query, answer)
            return answer["data"]["result"]
        until(lambda: sum(float(each["value"][1]) for each in instant('up{job="drover"}')) == 4, *running)
        expressions = panels("prometheus")
        assert len(expressions) > 15
        for name, title, target in expressions:
            query = target["expr"].replace("$__rate_interval", "1m")
            # Rates need two looks.
            result = until(lambda: instant(query), *running, about=f"an answer to {title}: {query}")
            for metric in set(re.findall(r"\bdrover_\w+", query)):
                assert instant(f"count({metric})"), metric
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                assert all(each["metric"].get(label) for each in result), (title, label)
        for figure in ("sum(drover_records_total)", "sum(drover_commit_seconds_count)"):
            until(lambda: (found := instant(figure)) and float(found[0]["value"][1]) > 0, *running)
        # What each tells is well formed, and told once.
        for port in ports:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=HANG_S) as answer:
                assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
                names = re.findall(r"^# TYPE (\S+)", answer.read().decode(), re.M)
            assert names and len(names) == len(set(names))
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{ports[0]}/", timeout=HANG_S)
        assert refused.value.code == 404
    for each in running:
        each.stop()


def test_a_port_that_is_taken_is_told(world, env):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        run = world.drover.run("serve", "--port", "0", "--set", f"metrics.port={listener.getsockname()[1]}", env=env)
    assert run.code == 1 and "metrics.port" in run.err


def test_provisioning_names_the_data_sources_and_folders():
    folder = ROOT / "Deploy" / "grafana"
    sources = yaml.safe_load((folder / "datasources.yaml").read_text())
    wanted = {target["datasource"]["type"] for kind in ("postgres", "prometheus") for _, _, target in panels(kind)}
    assert sources["apiVersion"] == 1 and {source["type"] for source in sources["datasources"]} == wanted
    assert len({source["uid"] for source in sources["datasources"]}) == len(sources["datasources"])
    assert "password" not in json.dumps([source.get("password", "") for source in sources["datasources"]])
    [provider] = yaml.safe_load((folder / "dashboards.yaml").read_text())["providers"]
    assert provider["type"] == "file" and provider["options"]["path"].endswith("/Dashboards")
