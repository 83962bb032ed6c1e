"""Kernels as facts for a file: every kernel comes back equal, and no file makes anything else."""

import inspect
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmks import IndexFileError, InvalidArgument
from fastmks import kernels as K
from fastmks.kernels.serialise import kernel_facts, kernel_from_facts
from support.kinds.own import COMPILED
from support.strategies import KERNELS


def product(x, y):
    return float(np.dot(x, y))


def products(x, ys):
    return [product(x, y) for y in ys]


def squares(xs):
    return [product(x, x) for x in xs]


DNA = K.Substitution.uniform("ACGT", match=2.5, mismatch=-0.1)
OTHERS = (
    K.GlobalAlignment(0.1),
    K.GlobalAlignment(bandwidth=1.5, triangular=7),
    K.Jaccard(),
    K.MinMax(),
    K.Tanimoto(),
    K.LocalAlignment(),
    K.LocalAlignment(0.25, DNA, gap_open=3.3, gap_extend=0.1),
    K.LocalAlignment(substitution=K.BLOSUM62.only("ARN")),
    K.SegmentMatch(),
    K.SegmentMatch(DNA),
    K.SmithWaterman(),
    K.SmithWaterman(DNA, 5, 1),
    K.Mismatch(5, 1),
    K.Mismatch(3, 1, alphabet=b"\x00\xffAB"),
    K.Mismatch(3, 0),
    K.Precomputed(),
    K.Precomputed(is_mercer=False, rtol=1e-5),
    K.ShortestPath(),
    K.WeisfeilerLehman(),
    K.WeisfeilerLehman(7),
    K.Spectrum(3),
    K.Spectrum((2, 4)),
    K.Spectrum((2, 4), weights=(1.0, 0.1, 1 / 3)),
    K.OnField(1, K.Gaussian(1 / 3)) * K.OnField(0, K.OnField(2, K.Jaccard())),
    K.Normalized(K.Sum((K.Spectrum(3), 0.1 * K.Mismatch(4, 1)))),
    K.Gaussian(5e-324),
    K.Polynomial(10_000, -1.7976931348623157e308, 2.2250738585072014e-308),
)
OWN = (
    K.Custom(product),
    K.Custom(product, rtol=1e-5, name="my product", is_mercer=False),
    K.Custom(block=products, self_values=squares),
    K.Similarity(product),
    K.Similarity(product, upper_bound=product, name="bounded"),
    K.Similarity(block=products, bounds_block=products),
    K.Normalized(2.0 * K.Custom(product) + K.OnField(0, K.Similarity(product)) * K.Linear()),
)


def through_json(kernel):
    return json.loads(json.dumps(kernel_facts(kernel), allow_nan=False))


def classes_in(kernel):
    yield type(kernel)
    for value in vars(kernel).values():
        for part in value if isinstance(value, tuple) else [value]:
            if isinstance(part, K.Kernel):
                yield from classes_in(part)


@pytest.mark.parametrize("kernel", [*KERNELS, *OTHERS], ids=str)
def test_comes_back_equal(kernel):
    back = kernel_from_facts(through_json(kernel), None)
    assert back == kernel
    assert repr(back) == repr(kernel)
    assert hash(back) == hash(kernel)
    assert kernel_from_facts(through_json(kernel), kernel) == kernel


@pytest.mark.parametrize("kernel", OWN, ids=str)
def test_functions_are_given_again(kernel):
    assert kernel_from_facts(through_json(kernel), kernel) is kernel


def test_no_kernel_is_forgotten():
    public = {getattr(K, name) for name in K.__all__}
    kernels = {cls for cls in public if inspect.isclass(cls) and issubclass(cls, K.Kernel)}
    tested = {cls for kernel in (*KERNELS, *OTHERS, *OWN) for cls in classes_in(kernel)}
    assert kernels - {K.Kernel} == tested


@given(st.floats(5e-324, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_kept_exactly(scale, offset):
    kernel = K.Tanh(scale, offset)
    back = kernel_from_facts(through_json(kernel), None)
    assert (back.scale.hex(), back.offset.hex()) == (kernel.scale.hex(), kernel.offset.hex())


class TestGiven:
    def test_a_function_makes_the_kernel_with_the_options_of_the_file(self):
        kernel = K.Custom(product, rtol=1e-5, name="my product", is_mercer=False)
        assert kernel_from_facts(through_json(kernel), product) == kernel

    def test_other_functions_of_other_names_are_taken(self):
        other = K.Custom(lambda x, y: 1.0)
        assert kernel_from_facts(through_json(K.Custom(product)), other) is other

    def test_no_kernel_where_one_is_needed(self):
        message = "kernel must be given: the index was saved with Similarity\\(product\\), and"
        with pytest.raises(InvalidArgument, match=message):
            kernel_from_facts(through_json(K.Similarity(product)), None)

    @pytest.mark.parametrize(
        ("stored", "given"),
        [
            (K.Custom(product), K.Similarity(product)),
            (K.Custom(product), K.Custom(product, rtol=1e-5)),
            (K.Custom(product), K.Custom(block=products)),
            (K.Custom(product), K.Custom(product, self_values=squares)),
            (K.Custom(product), K.Custom(product, name="other")),
            (K.Custom(product), 2.0 * K.Custom(product)),
            (K.Custom(product), "linear"),
            (K.Normalized(K.Custom(product)), product),
            (K.Similarity(product, upper_bound=product), product),
            (K.Custom(product) + K.Linear(), K.Custom(product) + K.Cosine()),
        ],
        ids=lambda one: getattr(one, "__name__", str(one)),
    )
    def test_a_kernel_of_another_structure(self, stored, given):
        with pytest.raises(InvalidArgument, match="kernel must be the one that the index"):
            kernel_from_facts(through_json(stored), given)

    @pytest.mark.parametrize("given", ["linear", K.Gaussian(2.0), product])
    def test_another_kernel_where_none_is_needed(self, given):
        message = r"kernel must be Gaussian\(bandwidth=3.0\), which the index was saved with, or"
        with pytest.raises(InvalidArgument, match=message):
            kernel_from_facts(through_json(K.Gaussian(3.0)), given)

    def test_names_will_do(self):
        assert kernel_from_facts(through_json(K.Gaussian()), "gaussian") == K.Gaussian()

    def test_compiled_functions_are_no_python_functions(self):
        kernel = K.Custom(COMPILED)
        assert kernel_from_facts(through_json(kernel), kernel) is kernel
        assert kernel_from_facts(through_json(kernel), COMPILED) == kernel
        for stored, function in ((kernel, product), (K.Custom(product), COMPILED)):
            with pytest.raises(InvalidArgument, match="kernel must be the one that"):
                kernel_from_facts(through_json(stored), function)


class Derived(K.Gaussian):
    pass


class TestRefused:
    def test_what_cannot_be_saved(self):
        deep = K.Linear()
        for _ in range(70):
            deep = K.Normalized(deep)
        for kernel in (Derived(), deep, K.Mismatch(2, 1, alphabet="\ud800\udc00")):
            with pytest.raises(InvalidArgument):
                kernel_facts(kernel)

    @pytest.mark.parametrize(
        "facts",
        [
            None,
            [],
            {},
            {"name": "Gaussian"},
            {"name": "Kernel", "parameters": {}},
            {"name": "os.system", "parameters": {}},
            {"name": "Derived", "parameters": {}},
            {"name": ["Gaussian"], "parameters": {}},
            {"name": "Gaussian", "parameters": {"bandwidth": 0.0}},
            {"name": "Gaussian", "parameters": {"bandwidth": 1e999}},
            {"name": "Gaussian", "parameters": {"bandwidth": 10**400}},
            {"name": "Gaussian", "parameters": {"width": 1.0}},
            {"name": "Gaussian", "parameters": {}, "functions": {"function": {}}},
            {"name": "Spectrum", "parameters": {"weights": None}},
            {"name": "Mismatch", "parameters": {"p": 2**31 - 1, "m": 2**30, "alphabet": "AB"}},
            {"name": "Custom", "parameters": {}},
            {"name": "Custom", "parameters": {"function": "print"}},
            {"name": "Custom", "parameters": {}, "functions": {"function": "print"}},
            {"name": "Sum", "parameters": {"terms": []}},
            {"name": "Sum", "parameters": {"terms": [[[]]]}},
            {"name": "Normalized", "parameters": {"kernel": "Linear"}},
            {"name": json.loads("[" * 900 + "]" * 900), "parameters": {}},
            {"name": "Custom", "parameters": {"name": json.loads("[" * 900 + "]" * 900)}},
            {"name": "SmithWaterman", "parameters": {"substitution": {"letters": "A"}}},
            {
                "name": "SmithWaterman",
                "parameters": {"substitution": {"letters": "A", "scores": [[10**400]]}},
            },
        ],
    )
    def test_facts_that_make_no_kernel(self, facts):
        with pytest.raises(IndexFileError):
            kernel_from_facts(facts, None)

    def test_kernels_nested_too_deeply(self):
        facts = kernel_facts(K.Linear())
        for _ in range(100_000):
            facts = {"name": "Normalized", "parameters": {"kernel": facts}}
        with pytest.raises(IndexFileError, match="nested at most 64 deep"):
            kernel_from_facts(facts, None)

    def test_parameters_of_later_versions_may_be_missing(self):
        assert kernel_from_facts({"name": "Gaussian", "parameters": {}}, None) == K.Gaussian()

    @given(data=st.data(), kernel=st.sampled_from([*OTHERS, *OWN]))
    def test_no_value_of_a_parameter_does_anything_else(self, data, kernel):
        json_values = st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["letters", "scores", "name"]), inner, max_size=3)
            ),
            max_leaves=8,
        )
        facts = through_json(kernel)
        place = data.draw(st.sampled_from(["parameters", "functions"]))
        key = data.draw(st.sampled_from([*facts["parameters"], *facts.get("functions", {}), "x"]))
        facts.setdefault(place, {})[key] = data.draw(json_values)
        try:
            back = kernel_from_facts(facts, kernel)
        except (IndexFileError, InvalidArgument):
            pass
        else:
            assert isinstance(back, K.Kernel)
