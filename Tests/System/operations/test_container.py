"""Deploy/container, as far as it can be shown without a container runtime: the files are in order, all that they name is there, the
image's packages are those that the program needs, and every role gets ready as they start it."""
import functools
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
import yaml
from deployed import CONTAINER, check_command, dotted, installed, linter, run, setting_of, settings  # noqa: F401 (a fixture)
from harness import ROOT, free_port, until

COMPOSE = yaml.safe_load((CONTAINER / "compose.yaml").read_text())
OURS = {name: service for name, service in COMPOSE["services"].items() if service["image"] == "drover"}
ROLES = [name for name in OURS if name != "migrate"]
CONTAINERFILE = (CONTAINER / "Containerfile").read_text()
BUILD, IMAGE = CONTAINERFILE.split("\nFROM ")[1:]


def instructions(stage):
    """Each instruction on one line, without comments."""
    text = re.sub(r"^#.*\n", "", stage, flags=re.M).replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip()]


def packages(stage):
    [line] = [each for each in instructions(stage) if "apt-get install" in each]
    return {word for word in re.search(r"--no-install-recommends (.*?) &&", line).group(1).split()}


def test_the_containerfile_is_in_order():
    done = run(linter("hadolint"), CONTAINER / "Containerfile")
    assert (done.code, done.out, done.err) == (0, "", "")
    # It does find what is wrong.
    bad = subprocess.run([linter("hadolint"), "-"], input=CONTAINERFILE.replace("USER 10001:10001\n", "USER root\n"), capture_output=True, text=True)
    assert "DL3002" in bad.stdout


def test_the_image_holds_what_the_program_needs(drover):
    for line in instructions(BUILD) + instructions(IMAGE):
        if line.startswith("COPY ") and "--from" not in line:
            assert (ROOT / line.split()[1]).exists(), line
    ignore = (CONTAINER / "Containerfile.dockerignore").read_text()
    for line in instructions(IMAGE) + instructions(BUILD):
        if line.startswith("COPY ") and "--from" not in line:
            assert f"!{line.split()[1]}\n" in ignore, line
    assert "Deploy/container/secrets\n" in ignore
    # All that the command reads of its own.
    home = {line.split()[-1].removeprefix("/opt/drover/") for line in instructions(IMAGE) if line.startswith("COPY ") and "/opt/drover/" in line}
    assert {"bin/drover", "Queries", "Assets", "Deploy"} <= home
    assert re.search(r"^USER 10001:10001$", IMAGE, re.M)
    known = settings(drover)
    assert [name for name in re.findall(r"\b(DROVER_\w+)=", IMAGE) if not setting_of(name, known)] == []
    assert 'ENTRYPOINT ["/opt/drover/bin/drover"]' in IMAGE
    [health] = re.findall(r'HEALTHCHECK .*CMD \["/opt/drover/bin/drover", "(\w+)"\]', IMAGE)
    check_command(drover, [health])


def test_the_build_stage_has_what_Deploy_install_installs():
    wanted = set(re.findall(r"\b[a-z0-9.+-]+-dev\b", re.search(r"^packages=\((.*?)^\)", (ROOT / "Deploy" / "install").read_text(), re.M | re.S).group(1)))
    assert {each for each in packages(BUILD) if each.endswith("-dev")} == wanted and {"g++", "binutils", "pkg-config"} <= packages(BUILD)


@functools.cache
def packaged():
    """Which package each file came with, as `dpkg -S` has it."""
    return {line: listing.stem.split(":")[0] for listing in Path("/var/lib/dpkg/info").glob("*.list") for line in listing.read_text().splitlines()}


def of_package(path):
    """Which package a file came with; /lib is /usr/lib."""
    real = os.path.realpath(path)
    for name in (real, real.removeprefix("/usr"), path):
        if name in packaged():
            return packaged()[name]
    raise AssertionError(f"{path} is of no package")


def with_dependencies(names):
    """The packages with all that they depend on; the first of alternatives, as apt takes it."""
    depends, provided = {}, {}
    rows = subprocess.run(["dpkg-query", "-W", "-f", "${Package}\t${Depends}, ${Pre-Depends}\t${Provides}\n"], capture_output=True, text=True, check=True).stdout
    for row in rows.splitlines():
        name, wants, provides = row.split("\t")
        depends[name] = [re.split(r"[ :(]", part.strip().split("|")[0].strip())[0] for part in wants.split(",") if part.strip()]
        for each in provides.split(","):
            provided.setdefault(re.split(r"[ :(]", each.strip())[0], name)
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        name = name if name in depends else provided.get(name, name)
        if name not in found:
            found.add(name)
            waiting += depends.get(name, [])
    return found


def test_the_images_packages_are_those_of_the_libraries(program):
    """Each library that the program itself names is of a package that is listed, each other one comes with them, and none is listed for nothing."""
    loaded = dict(re.findall(r"^\s*(\S+) => (/\S+)", subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout, re.M))
    loaded = {name: path for name, path in loaded.items() if "/swift/linux/" not in path}
    assert len(loaded) > 20
    named = re.findall(r"NEEDED.*\[(.+)\]", subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout)
    own = {of_package(loaded[name]) for name in named if name in loaded}
    listed = packages(IMAGE)
    data = {"ca-certificates", "fonts-dejavu-core", "tzdata"}
    # Swift's libraries, which are copied, want it.
    foundation = {"libxml2"}
    assert own <= listed, own - listed
    assert listed == own | data | foundation, listed - own - data - foundation
    others = {name: of_package(path) for name, path in loaded.items()}
    closure = with_dependencies(listed)
    assert {name: package for name, package in others.items() if package not in closure} == {}


def test_the_compose_file_is_one():
    from compose_spec import PyCompose

    # Merge keys are YAML's, not the format's.
    PyCompose.from_yaml(yaml.safe_dump(COMPOSE, sort_keys=False)).validate()
    wrong = yaml.safe_dump({**COMPOSE, "services": {"a": {"image": "x", "healtcheck": {}}}})
    with pytest.raises(ValueError, match="healtcheck"):
        PyCompose.from_yaml(wrong)


def test_services_are_held_back_and_only_the_pages_are_reached():
    published = {name: service["ports"] for name, service in COMPOSE["services"].items() if "ports" in service}
    assert published == {"serve": ["127.0.0.1:8080:8080"]}
    for name, service in COMPOSE["services"].items():
        assert "no-new-privileges:true" in service["security_opt"] and not service.get("privileged"), name
        limits = service["deploy"]["resources"]["limits"]
        assert {"cpus", "memory", "pids"} <= set(limits), name
        assert service["image"] == "drover" or re.search(r":v?\d+\.\d+", service["image"]), f"{name}: the image has no version"
        assert service["networks"] and "network_mode" not in service, name
    for name, service in OURS.items():
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["restart"], name
        # Of the image, by the command itself.
        assert service.get("healthcheck", {}) == ({"disable": True} if name == "migrate" else {}), name
    for name in ("kafka", "postgres", "prometheus", "grafana"):
        assert COMPOSE["services"][name]["healthcheck"]["test"][0] == "CMD" and COMPOSE["services"][name]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    # First the tables, then the logins, then the roles.
    assert COMPOSE["services"]["logins"]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
    for name in ROLES:
        assert OURS[name]["depends_on"]["logins"] == {"condition": "service_completed_successfully"}, name


def test_all_that_the_compose_file_names_is_there(drover, tmp_path):
    known = settings(drover)
    for name, service in OURS.items():
        check_command(drover, service["command"])
        assert [variable for variable in service["environment"] if not setting_of(variable, known)] == [], name
        given = {value.removeprefix("/run/secrets/") for value in service["environment"].values() if value.startswith("/run/secrets/")}
        assert given == set(service["secrets"]), name
    used = set().union(*(service.get("secrets", []) for service in COMPOSE["services"].values()))
    assert used == set(COMPOSE["secrets"])
    assert run(CONTAINER / "make-secrets", tmp_path / "secrets").code == 0
    assert {path.name for path in (tmp_path / "secrets").iterdir()} == used
    assert all(each["file"] == f"./secrets/{name}" for name, each in COMPOSE["secrets"].items())
    for name, service in COMPOSE["services"].items():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (CONTAINER / source).exists() if source.startswith(".") else source in COMPOSE["volumes"], (name, volume)
    assert (CONTAINER / COMPOSE["configs"]["drover"]["file"]).exists()
    assert [key for key in dotted(yaml.safe_load((CONTAINER / "drover.yaml").read_text())) if key not in known.values()] == []
    # Every role is there, workers under names of their own.
    words = [service["command"] for service in OURS.values()]
    assert sorted(each[0] for each in words) == ["gateway", "migrate", "notify", "serve", "work", "work"]
    assert len({word for each in words for word in each if word.startswith("kafka.instance_id=")}) == 2


def test_prometheus_asks_every_role_and_grafana_the_same_sources(tmp_path):
    text = (CONTAINER / "prometheus.yaml").read_text()
    targets = yaml.safe_load(text)["scrape_configs"][0]["static_configs"][0]["targets"]
    port = yaml.safe_load((CONTAINER / "drover.yaml").read_text())["metrics"]["port"]
    assert sorted(targets) == sorted(f"{name}:{port}" for name in ROLES)
    assert f"DROVER_METRICS_PORT={port} " in IMAGE
    config = tmp_path / "prometheus.yaml"
    config.write_text(text.replace("/etc/prometheus/rules.yaml", str(ROOT / "Deploy" / "prometheus" / "rules.yaml")))
    checked = run("promtool", "check", "config", config)
    assert checked.code == 0, checked.out + checked.err
    shipped, own = (yaml.safe_load((folder / "datasources.yaml").read_text())["datasources"] for folder in (ROOT / "Deploy" / "grafana", CONTAINER))
    assert [(each["uid"], each["type"]) for each in own] == [(each["uid"], each["type"]) for each in shipped]


def test_secrets_are_made_once_and_stay_out_of_everything(tmp_path):
    folder = tmp_path / "a folder" / "secrets"
    (tmp_path / "a folder").mkdir()
    assert run(CONTAINER / "make-secrets", folder).code == 0
    first = {path.name: path.read_text() for path in folder.iterdir()}
    assert run(CONTAINER / "make-secrets", folder).code == 0
    assert {path.name: path.read_text() for path in folder.iterdir()} == first
    assert len(set(first.values())) == len(first) and all(re.search(r"(^|password=)[0-9a-f]{48,}$", text.strip()) for text in first.values())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert run("git", "-C", ROOT, "check-ignore", "Deploy/container/secrets/postgres-owner").code == 0
    assert run(CONTAINER / "make-secrets", "--help").code == 2
    for path in CONTAINER.iterdir():
        if path.is_file():
            assert not re.search(r"password=[0-9a-z]", path.read_text()), path


def started(installed, name, port):
    """A service's words and variables, with the servers of this test in the place of the containers."""
    service = OURS[name]
    words = [word.replace("/etc/drover/drover.yaml", str(CONTAINER / "drover.yaml")) for word in service["command"]]
    image = dict(re.findall(r"\b(DROVER_\w+)=(\S+)", IMAGE))
    env = {**image, "DROVER_ALERTS_THRESHOLDS_DIR": str(ROOT / "Deploy" / "thresholds")}
    env |= {key: value.replace("/run/secrets", str(installed.folder)) for key, value in service["environment"].items()}
    return words, env | {
        "DROVER_KAFKA_BROKERS": installed.broker.brokers, "DROVER_METRICS_HOST": "127.0.0.1", "DROVER_METRICS_PORT": str(port), "DROVER_WEB_HOST": "127.0.0.1",
        "DROVER_WEB_PORT": "0", "DROVER_GATEWAY_SPOOL_PATH": str(installed.place / f"{name}.sqlite")}


@pytest.mark.long(reason="installs a cluster that asks for passwords; test_health.py has all roles' readiness")
def test_all_roles_get_ready_as_the_compose_file_starts_them(installed, drover):
    running, health = {}, {}
    for name in ROLES:
        words, env = started(installed, name, free_port())
        running[name] = drover.start(*words, env=env)
        health[name] = lambda *more, env=env: drover.run("health", *more, env=env)
    for name in ROLES:
        until(lambda: health[name]("--ready").code == 0, running[name])
        assert health[name]().code == 0
    secrets = [path.read_text().strip().rpartition("password=")[2] for path in installed.folder.iterdir()]
    for name in ROLES:
        assert running[name].stop() == 0, name
        assert health[name]().code == 1
        # The log is JSON, and no secret is in it.
        said = running[name].output()
        assert said.startswith('{"time":') and [each for each in secrets if each in said] == []


@pytest.mark.long(reason="the same cluster")
def test_check_is_content_with_the_shipped_settings(installed, drover):
    drover.done("check", "--settings", CONTAINER / "drover.yaml", env={
        "DROVER_POSTGRES_URL_FILE": str(installed.folder / "postgres-worker"), "DROVER_PEOPLE_CODE_KEY_FILE": str(installed.folder / "code-key"),
        "DROVER_KAFKA_BROKERS": installed.broker.brokers, "DROVER_GATEWAY_SPOOL_PATH": str(installed.place / "check.sqlite")})
    # A login with a wrong password is refused: the cluster does ask for one.
    wrong = installed.folder / "wrong"
    wrong.write_text(re.sub(r"password=..", "password=zz", installed.secret("postgres-worker")))
    done = drover.run("check", env={"DROVER_POSTGRES_URL_FILE": str(wrong), "DROVER_KAFKA_BROKERS": installed.broker.brokers})
    wrong.unlink()
    assert done.code == 1 and "The password is wrong" in done.out


def test_a_value_comes_from_a_file_or_from_the_variable_not_from_both(drover, tmp_path):
    secret = tmp_path / "a secret"
    secret.write_text("host=127.0.0.1 port=1 password=hidden\nmore\n")
    done = drover.run("migrate", env={"DROVER_POSTGRES_URL_FILE": str(secret)})
    assert done.code == 1 and "Connection refused" in done.err and "hidden" not in done.out + done.err
    for content, said in [("", "whose first line is empty"), (None, "No such file")]:
        secret.unlink(missing_ok=True)
        if content is not None:
            secret.write_text(content)
        done = drover.run("check", "--offline", env={"DROVER_POSTGRES_URL_FILE": str(secret)})
        assert done.code == 1 and said in done.out + done.err and str(secret) in done.out + done.err
    secret.write_text("dbname=x")
    done = drover.run("check", "--offline", env={"DROVER_POSTGRES_URL_FILE": str(secret), "DROVER_POSTGRES_URL": "dbname=y"})
    assert done.code == 1 and "Set one of them" in done.out + done.err
    # A setting that is a file's name by itself stays one.
    done = drover.run("check", "--offline", env={"DROVER_PEOPLE_CODE_KEY_FILE": str(secret)})
    assert f"people.code_key_file: {secret}" in done.out


@pytest.mark.long(reason="installs Debian's smallest system")
@pytest.mark.skipif(os.geteuid() != 0, reason="changes the root folder")
@pytest.mark.skipif(not shutil.which("debootstrap"), reason="needs debootstrap: apt-get install debootstrap")
def test_the_program_runs_on_the_images_packages_alone(program, drover, fixtures, tmp_path):
    """Debian's smallest system with the packages that are listed, Swift's libraries where the program looks for them, its user, no toolchain."""
    root = tmp_path / "root"
    sources = "\n".join(path.read_text() for path in [*Path("/etc/apt").glob("sources.list"), *Path("/etc/apt").glob("sources.list.d/*")])
    mirror = re.search(r"^(?:URIs:|deb(?: \[[^]]*\])?) +(https?:\S+/debian/?)(?: .*)?$", sources, re.M)
    made = run("debootstrap", "--variant=minbase", f"--include={','.join(sorted(packages(IMAGE)))}", "bookworm", root, *([mirror[1]] if mirror else []))
    assert made.code == 0, made.out[-2000:]
    # As the Containerfile does: libpq asks what the user is called.
    assert run("chroot", root, "useradd", "--system", "--uid", "10001", "--home-dir", "/var/lib/drover", "--shell", "/usr/sbin/nologin", "drover").code == 0
    libraries = re.findall(r"=> (\S+/swift/linux/\S+)", subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout)
    [place] = {str(Path(each).parent) for each in libraries}
    (root / place[1:]).mkdir(parents=True)
    home = root / "opt" / "drover"
    (home / "bin").mkdir(parents=True)
    for library in libraries:
        shutil.copy(library, root / place[1:])
    shutil.copy(program, home / "bin" / "drover")
    for name in ("Queries", "Sources/People/Web/Assets", "Dashboards", "Deploy"):
        shutil.copytree(ROOT / name, home / Path(name).name)
    recording = next(fixtures.glob("cars/*/*.csv"))
    (root / "tmp" / "car.csv").write_bytes(recording.read_bytes())

    def inside(*words):
        script = 'mount -t proc proc "$0/proc" && exec chroot --userspec=10001:10001 "$0" /opt/drover/bin/drover "$@"'
        return run("unshare", "--mount", "--pid", "--fork", "bash", "-c", script, root, *words)

    assert "drover COMMAND" in inside("--help").out
    own = inside("trips", "/tmp/car.csv")
    # The table is as wide as the file's name is long.
    assert own.code == 0 and own.out.split() == drover.run("trips", recording).out.replace(str(recording), "/tmp/car.csv").split(), own.err
    # Its own files, roots of trust and the libraries that only some commands use.
    checked = inside("check", "--set", "kafka.brokers=127.0.0.1:1", "--set", "postgres.url=host=127.0.0.1 port=1")
    assert checked.code == 1 and re.search(r"^thresholds: ok", checked.out, re.M) and "Connection refused" in checked.out, checked.out + checked.err
