"""What is answered, held against what is described: Sources/People/Web/Assets/openapi.json. Clients of the tests show it every answer."""
import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from jsonschema_rs import Draft202012Validator

DOCUMENT = json.loads((Path(__file__).resolve().parents[2] / "Sources/People/Web/Assets/openapi.json").read_text())
METHODS = ("get", "put", "post", "delete")


def strict(schema):
    """The same, and nothing that is not described."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: strict(value) for key, value in schema.items()}
    if "properties" in schema or "allOf" in schema:
        schema["unevaluatedProperties"] = False
    return schema


def loose_parts(schema):
    """The parts of an `allOf` are not closed by themselves."""
    if isinstance(schema, dict):
        for part in schema.get("allOf", []):
            part.pop("unevaluatedProperties", None)
        for value in schema.values():
            loose_parts(value)
    elif isinstance(schema, list):
        for value in schema:
            loose_parts(value)
    return schema


@cache
def schemas():
    found = strict(DOCUMENT["components"]["schemas"])
    for schema in list(found.values()):
        for part in schema.get("allOf", []):
            if name := part.get("$ref", "").rpartition("/")[2]:
                # Closed where it stands alone, open as a part.
                found.setdefault("Open" + name, {key: value for key, value in found[name].items() if key != "unevaluatedProperties"})
                part["$ref"] = "#/components/schemas/Open" + name
    return loose_parts(found)


@cache
def patterns():
    """Fixed addresses before those with a parameter, as the server finds them."""
    paths = sorted(DOCUMENT["paths"], key=lambda path: (path.count("{"), path))
    return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path) for path in paths]


def operation(method, address):
    """Of a request; nothing when there is no such."""
    path = unquote(address.partition("?")[0])
    for pattern, described in patterns():
        if pattern.fullmatch(path):
            if found := DOCUMENT["paths"][described].get("get" if method == "HEAD" else method.lower()):
                return described, found
    return None


def resolved(part):
    while "$ref" in part:
        found = DOCUMENT
        for key in part["$ref"].removeprefix("#/").split("/"):
            found = found[key]
        part = found
    return part


@cache
def validator(schema):
    return Draft202012Validator({**strict(json.loads(schema)), "components": {"schemas": schemas()}})


def check(method, address, status, content_type, body):
    """Fails when an answer is not as it is described. Pages are not; other methods of an address get 405 everywhere."""
    found = operation(method, address)
    if not found or not address.startswith(("/v1/", "/openapi.json")) or status == 405:
        return
    path, described = found
    assert str(status) in described["responses"], f"{method} {path} answers {status}, which is not described: {body[:300]}"
    content = resolved(described["responses"][str(status)]).get("content", {})
    if method == "HEAD" or not body:
        return
    kind = (content_type or "").partition(";")[0]
    assert kind in content, f"{method} {path} answers {status} as {kind}; described are {list(content)}"
    if kind.endswith("json") and "schema" in content[kind]:
        faults = [f"{'/'.join(map(str, fault.instance_path))}: {fault.message}"
                  for fault in validator(json.dumps(content[kind]["schema"], sort_keys=True)).iter_errors(json.loads(body))]
        assert not faults, f"{method} {path} answers {status} with what is not described: {faults[:3]}"
