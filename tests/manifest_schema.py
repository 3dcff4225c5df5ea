"""The published schema of manifests, checked once for all tests."""

import jsonschema

from ggdp.releases import manifest_schema

VALIDATOR = jsonschema.Draft202012Validator(manifest_schema())
