"""Deploy/kubernetes/example.yaml, as far as it can be shown without a cluster: the manifests hold to Kubernetes' schemas and its restricted standard, all
that they name is there, and what they ask of the program a real process answers."""
import re
import urllib.error
import urllib.request

import pytest
import yaml
from deployed import CONTAINER, check_command, dotted, installed, setting_of, settings  # noqa: F401 (a fixture)
from harness import HANG_S, ROOT, free_port, until

EXAMPLE = ROOT / "Deploy" / "kubernetes" / "example.yaml"
MANIFESTS = list(yaml.safe_load_all(EXAMPLE.read_text()))
# The oldest one that is still cared for, and the newest that is known.
VERSIONS = ("1.34", "1.37")


def of_kind(*kinds):
    return {each["metadata"]["name"]: each for each in MANIFESTS if each["kind"] in kinds}


def template(manifest):
    spec = manifest["spec"]
    return (spec["jobTemplate"]["spec"] if manifest["kind"] == "CronJob" else spec)["template"]


PODS = {name.removeprefix("drover-"): template(each) for name, each in of_kind("Deployment", "StatefulSet", "Job", "CronJob").items()}
ROLES = ["work", "notify", "serve", "gateway"]
SETTINGS = yaml.safe_load(of_kind("ConfigMap")["drover-settings"]["data"]["drover.yaml"])


def container(role):
    [container] = PODS[role]["spec"]["containers"]
    return container


@pytest.mark.parametrize("version", VERSIONS)
def test_manifests_hold_to_the_schemas(version):
    import kubernetes_validate

    for each in MANIFESTS:
        kubernetes_validate.validate(each, version, strict=True)
    # It does find what is wrong.
    wrong = of_kind("Deployment")["drover-serve"]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**wrong, "spec": {**wrong["spec"], "replica": 3}}, version, strict=True)


def test_every_role_is_there_with_one_image_and_nobody_says_that_it_ran():
    assert len({container(role)["image"] for role in PODS}) == 1
    assert set(PODS) == {*ROLES, "migrate", "retention"}
    assert "NOT RUN ON A CLUSTER" in EXAMPLE.read_text().splitlines()[0]


@pytest.mark.parametrize("role", sorted(PODS))
def test_a_pod_keeps_to_the_restricted_standard(role):
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/ and a little more: nothing to write to, no token."""
    assert of_kind("Namespace")["drover"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    spec = PODS[role]["spec"]
    assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & set(spec)
    assert spec["securityContext"]["runAsNonRoot"] and spec["securityContext"]["runAsUser"] == 10001
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    for volume in spec["volumes"]:
        assert set(volume) - {"name"} <= {"configMap", "projected", "emptyDir", "persistentVolumeClaim"}, volume
    own = container(role)
    assert own["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    assert {"cpu", "memory"} == set(own["resources"]["requests"]) and "memory" in own["resources"]["limits"]
    assert all("hostPort" not in port for port in own.get("ports", []))
    # The image's own user.
    assert "USER 10001:10001" in (CONTAINER / "Containerfile").read_text()


@pytest.mark.parametrize("role", sorted(PODS))
def test_a_pod_names_what_there_is(role, drover):
    own, spec, known = container(role), PODS[role]["spec"], settings(drover)
    check_command(drover, own["args"])
    assert own["args"][0] == role
    names = [each["name"] for each in own["env"]]
    assert [name for name in names if name != "POD_NAME" and not setting_of(name, known)] == []
    # Each file that a variable names is of the secrets, and none is given that nobody reads.
    files = {item["path"] for volume in spec["volumes"] if "projected" in volume for source in volume["projected"]["sources"] for item in source["secret"]["items"]}
    assert {each["value"].removeprefix("/run/secrets/drover/") for each in own["env"] if "value" in each} == files
    logins = {path.removeprefix("postgres-") for path in re.findall(r"^for login in (.*); do$", (CONTAINER / "make-secrets").read_text(), re.M)[0].split()}
    assert files - {"code-key"} <= logins
    mounted = {each["name"]: each["mountPath"] for each in own["volumeMounts"]}
    claims = {each["metadata"]["name"] for each in of_kind("StatefulSet").get(f"drover-{role}", {"spec": {}})["spec"].get("volumeClaimTemplates", [])}
    assert set(mounted) == {each["name"] for each in spec["volumes"]} | claims
    assert mounted["settings"] == own["args"][own["args"].index("--settings") + 1]
    for place in re.findall(r"\$\((\w+)\)", " ".join(own["args"])):
        assert place in names
    for volume in spec["volumes"]:
        if "configMap" in volume:
            assert volume["configMap"]["name"] in of_kind("ConfigMap")


def test_the_shared_settings_are_settings(drover):
    assert [key for key in dotted(SETTINGS) if key not in settings(drover).values()] == []


def matches(selector, labels):
    wanted = selector.get("matchLabels", {} if "matchExpressions" in selector else selector)
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        labels.get(each["key"]) in each["values"] for each in selector.get("matchExpressions", []) if each["operator"] == "In")


def test_selectors_find_their_pods_and_ports():
    labels = {role: pod["metadata"]["labels"] for role, pod in PODS.items()}
    found = lambda selector: sorted(role for role in PODS if matches(selector, labels[role]))
    for name, each in of_kind("Deployment", "StatefulSet").items():
        assert found(each["spec"]["selector"]) == [name.removeprefix("drover-")]
    assert {name: found(each["spec"]["selector"]) for name, each in of_kind("PodDisruptionBudget").items()} == {f"drover-{role}": [role] for role in ("work", "notify", "serve")}
    for name, each in of_kind("Service").items():
        [role] = found(each["spec"]["selector"])
        for port in each["spec"]["ports"]:
            assert port["targetPort"] in {own["name"] for own in container(role)["ports"]}, name
    for each in of_kind("StatefulSet").values():
        assert each["spec"]["serviceName"] in of_kind("Service")
    policies = {name: found(each["spec"]["podSelector"]) for name, each in of_kind("NetworkPolicy").items()}
    assert policies == {"drover-nothing-else": sorted(PODS), "drover-pages": ["serve"], "drover-figures": sorted(PODS), "drover-inside": ["migrate", "retention", "work"]}
    nothing = of_kind("NetworkPolicy")["drover-nothing-else"]["spec"]
    assert nothing["policyTypes"] == ["Ingress"] and "ingress" not in nothing
    for name in ("drover-pages", "drover-figures"):
        for rule in of_kind("NetworkPolicy")[name]["spec"]["ingress"]:
            assert rule["from"] and all(port["port"] in ("http", "metrics") for port in rule["ports"])
    ports = {each["name"]: each["containerPort"] for role in ROLES for each in container(role)["ports"]}
    assert ports == {"metrics": SETTINGS["metrics"]["port"], "http": SETTINGS["web"]["port"]}


def test_workers_keep_their_names_and_are_never_more_than_partitions():
    work = of_kind("StatefulSet")["drover-work"]
    assert "kafka.instance_id=$(POD_NAME)" in container("work")["args"]
    assert 2 <= work["spec"]["replicas"] <= SETTINGS["kafka"]["partitions"]
    # Each gateway polls all that its database names.
    assert of_kind("StatefulSet")["drover-gateway"]["spec"]["replicas"] == 1
    # As long as the units of systemd wait.
    for role in ROLES:
        unit = next((ROOT / "Deploy" / "systemd").glob(f"drover-{role}*.service")).read_text()
        assert PODS[role]["spec"]["terminationGracePeriodSeconds"] >= int(re.search(r"TimeoutStopSec=(\d+)", unit)[1])


def probe(role, kind, port):
    """As the kubelet asks, but with all the time that a busy machine takes: the status, or nothing while nobody answers."""
    get = container(role)[kind]["httpGet"]
    assert get["port"] == "metrics" and container(role)[kind]["timeoutSeconds"] >= 2
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{get['path']}", timeout=HANG_S) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError:
        return None


@pytest.mark.long(reason="installs a cluster that asks for passwords; test_health.py has the same probes")
def test_probes_and_figures_are_answered(installed, drover):
    running, ports = {}, {role: free_port() for role in ROLES}
    (installed.place / "drover.yaml").write_text(yaml.safe_dump(SETTINGS))
    for role in ROLES:
        words = [word.replace("/etc/drover/drover.yaml", str(installed.place / "drover.yaml")).replace("$(POD_NAME)", "drover-work-0") for word in container(role)["args"]]
        env = {}
        for each in container(role)["env"]:
            if "value" in each:
                name = each["value"].removeprefix("/run/secrets/drover/")
                env[each["name"]] = str(installed.folder / (name if name == "code-key" else f"postgres-{name}"))
        running[role] = drover.start(*words, env={
            # One broker here, where the file is for a cluster of three.
            **env, "DROVER_KAFKA_BROKERS": installed.broker.brokers, "DROVER_KAFKA_REPLICATION": "1", "DROVER_METRICS_HOST": "127.0.0.1", "DROVER_METRICS_PORT": str(ports[role]),
            "DROVER_WEB_HOST": "127.0.0.1", "DROVER_WEB_PORT": "0", "DROVER_GATEWAY_SPOOL_PATH": str(installed.place / "spool.sqlite")})
    for role in ROLES:
        for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
            until(lambda: probe(role, kind, ports[role]) == 200, running[role])
    with urllib.request.urlopen(f"http://127.0.0.1:{ports['work']}{PODS['work']['metadata']['annotations']['prometheus.io/path']}", timeout=HANG_S) as answer:
        figures = answer.read().decode()
    assert re.search(r"^drover_worker_lag_records\{topic=\"drover\.cars\"\} \d", figures, re.M)
    # The partitions are made as the settings say, and one worker reads all of them.
    assert re.search(rf"^drover_worker_partitions {5 * SETTINGS['kafka']['partitions']}$", figures, re.M)
    installed.cluster.stop()
    for role in ROLES:
        until(lambda: probe(role, "readinessProbe", ports[role]) == 503, running[role])
        assert probe(role, "livenessProbe", ports[role]) == 200
    installed.cluster.start()
    for role in ROLES:
        until(lambda: probe(role, "readinessProbe", ports[role]) == 200, running[role])
        assert running[role].stop() == 0
