"""The description that a service gives of itself is what it does: schemathesis holds it to it."""

import numpy as np
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

import fastmks
from fastmks import kernels
from fastmks.service import Limits
from support.serving import serving

# Not positive_data_acceptance: no schema says that k is at most the number of objects, or which
# options exclude each other.
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]
VECTORS = np.random.default_rng(0).normal(size=(12, 3))
SERVICES = {
    "vectors": (VECTORS, kernels.Linear(), None),
    "named strings": (["tree", "search", "match"], kernels.Spectrum(2), ["a", "b/c", ""]),
    "bits": (VECTORS > 0, kernels.Tanimoto(), None),
    "graphs": ([([(0, 1)], ["C", None])] * 3, kernels.WeisfeilerLehman(1), None),
    "sets": ([{1, "a"}, {2.5}], kernels.Jaccard(), None),
    "series": ([[1.0, 2.0], [3.0, 1.0, 2.0]], kernels.GlobalAlignment(1.0), None),
    "tuples": (
        [("tree", [1.0, 2.0]), ("trie", [0.0, 1.0])],
        kernels.OnField(0, kernels.Spectrum(2)) + kernels.OnField(1, kernels.Linear()),
        None,
    ),
}
# Short enough for schemathesis to go beyond: what it takes for too long must be so.
LENGTHS = {"letters": 30, "members": 12, "nodes": 12, "edges": 12, "steps": 12}
LIMITS = Limits(k=20, queries=4, objects=4, seconds=5.0, body_bytes=100_000, **LENGTHS)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("kind", SERVICES)
def test_it_does_what_it_says(kind, mode):
    objects, kernel, ids = SERVICES[kind]
    with serving(fastmks.Index(objects, kernel, ids=ids), limits=LIMITS, writable=True) as client:
        schema = schemathesis.openapi.from_url(f"{client.base_url}/openapi.json")
        found = [result.ok() for result in schema.get_all_operations()]
        operations = [one for one in found if one.path != "/openapi.json"]
        assert len(operations) == 9
        for operation in operations:
            has_input = operation.body or (operation.path_parameters and ids is None)
            if mode == GenerationMode.NEGATIVE and not has_input:
                continue  # nothing there can be wrong

            @given(case=operation.as_strategy(generation_mode=mode))
            @settings(
                max_examples=8,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            def run(case):
                case.call_and_validate(checks=CHECKS)

            run()
        assert client.get("/health").is_success
