"""Compares what the command prints as JSON with the schemas that docs/cli-json-schema.json promises."""

import json

import jsonschema

from support.programs import SOURCE_ROOT

_SCHEMAS = json.loads((SOURCE_ROOT / "docs/cli-json-schema.json").read_text())


def validate(value: dict) -> dict:
    """`value` itself, if it fits the schema that it names."""
    jsonschema.validate(value, {"$ref": f"#/$defs/{value['schema'].replace('/', '~1')}", "$defs": _SCHEMAS["$defs"]})
    return value
