"""Graph kernels against definitions written with dicts, and graphs as they are read."""

from collections import Counter

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmks import Index, InvalidArgument, _core
from fastmks import kernels as K
from fastmks.data.counts import Vocabulary, make_counts
from fastmks.engines.space import Space
from fastmks.kernels.objects import read_objects
from support.comparing import assert_identical
from support.programs import run_python

LABELS = ("C", "N", "", 1, (1, 2), None, b"C")


@st.composite
def graphs(draw, labels=LABELS, most_nodes=8):
    """A pair (edges, labels); edges may be loops, and the same one may come twice."""
    node_labels = draw(st.lists(st.sampled_from(labels), max_size=most_nodes))
    n = len(node_labels)
    nodes = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(nodes, nodes), max_size=2 * n)) if n else []
    return edges, node_labels


KERNELS = [*(K.WeisfeilerLehman(h) for h in (0, 1, 2, 4)), K.ShortestPath()]


def neighbours(graph):
    edges, labels = graph
    around = {v: set() for v in range(len(labels))}
    for u, v in edges:
        if u != v:
            around[u].add(v)
            around[v].add(u)
    return around


def subtree_counts(graph, iterations):
    """Labels that spell out what they stand for, instead of being numbered."""
    around = neighbours(graph)
    colours = dict(enumerate(graph[1]))
    counts = Counter((0, colour) for colour in colours.values())
    for depth in range(1, iterations + 1):
        colours = {
            v: (colours[v], frozenset(Counter(colours[w] for w in around[v]).items()))
            for v in colours
        }
        counts += Counter((depth, colour) for colour in colours.values())
    return counts


def path_counts(graph):
    """Distances by relaxing them through each node in turn."""
    around = neighbours(graph)
    far = {(u, v): 1 for u in around for v in around[u]}
    for via in around:
        for u in around:
            for v in around:
                if (u, via) in far and (via, v) in far:
                    long = far[u, via] + far[via, v]
                    far[u, v] = min(far.get((u, v), long), long)
    return Counter(
        (frozenset([graph[1][u], graph[1][v]]), length) for (u, v), length in far.items() if u < v
    )


def features(kernel, graph):
    if isinstance(kernel, K.ShortestPath):
        return path_counts(graph)
    return subtree_counts(graph, kernel.iterations)


def slow_value(kernel, x, y):
    ours, theirs = features(kernel, x), features(kernel, y)
    return sum(count * theirs[feature] for feature, count in ours.items())


def slow_matrix(kernel, A, B):
    return np.array([[slow_value(kernel, x, y) for y in B] for x in A], dtype=float)


def as_networkx(graph, *, multiple=False):
    """The same graph with nodes that are not numbers, given in an order of their own."""
    edges, labels = graph
    made = nx.MultiGraph() if multiple else nx.Graph()
    for v in reversed(range(len(labels))):
        made.add_node(f"node {v}", label=labels[v])
    made.add_edges_from((f"node {u}", f"node {v}") for u, v in edges)
    return made


def renumbered(graph, order):
    """The same graph with its nodes and edges in another order."""
    edges, labels = graph
    place = {v: i for i, v in enumerate(order)}
    return [(place[v], place[u]) for u, v in reversed(edges)], [labels[v] for v in order]


@given(st.lists(graphs(), min_size=1, max_size=4), st.lists(graphs(), max_size=3))
def test_values_are_those_of_the_definitions(objects, queries):
    for kernel in KERNELS:
        np.testing.assert_array_equal(kernel.matrix(objects), slow_matrix(kernel, objects, objects))
        if queries:
            np.testing.assert_array_equal(
                kernel.matrix(queries, objects), slow_matrix(kernel, queries, objects)
            )


@given(st.lists(graphs("AB"), min_size=1, max_size=3), st.lists(graphs("AXY"), max_size=3))
def test_queries_with_unseen_labels_have_right_values_among_themselves(objects, queries):
    """A tree over the queries, and a normalised value, need K(q, q) and K(q, p)."""
    for kernel in KERNELS:
        space = Space(read_objects(objects, kernel), kernel)
        asked = space.queries(queries)
        among = _core.scan_matrix(asked.core, asked.core, 1)
        wanted = slow_matrix(kernel, queries, queries).reshape(len(queries), len(queries))
        np.testing.assert_array_equal(among, wanted)
        np.testing.assert_array_equal(asked.self_values(), np.diag(wanted))


@given(st.data(), st.lists(graphs(), min_size=1, max_size=4), graphs())
def test_the_order_of_nodes_edges_and_objects_makes_no_difference(data, objects, query):
    moved = [
        renumbered(graph, data.draw(st.permutations(range(len(graph[1]))))) for graph in objects
    ]
    order = data.draw(st.permutations(range(len(objects))))
    for kernel in (K.WeisfeilerLehman(3), K.ShortestPath(), K.Normalized(K.WeisfeilerLehman())):
        values = kernel.matrix([query], objects)[0]
        np.testing.assert_array_equal(
            kernel.matrix([query], [moved[i] for i in order])[0], values[list(order)]
        )
        np.testing.assert_array_equal(kernel.matrix(moved, objects), kernel.matrix(objects))


@given(graphs(), graphs())
def test_networkx_graphs_are_the_pairs_of_arrays(x, y):
    for kernel in KERNELS:
        value = kernel(x, y)
        assert kernel(as_networkx(x), y) == value
        assert kernel(as_networkx(x, multiple=True), as_networkx(y)) == value


def test_isomorphic_graphs_have_equal_counts():
    rng = np.random.default_rng(1)
    graph = nx.gnp_random_graph(40, 0.1, seed=1)
    labels = rng.integers(0, 3, size=40)
    edges = np.array(graph.edges())
    place = rng.permutation(40)
    moved = np.empty(40, dtype=int)
    moved[place] = labels
    for kernel in (K.WeisfeilerLehman(4), K.ShortestPath()):
        counts = kernel.read([(edges, labels), (place[edges], moved)], name="objects").counts
        end = counts.offsets[1]
        np.testing.assert_array_equal(counts.columns[:end], counts.columns[end:])
        np.testing.assert_array_equal(counts.values[:end], counts.values[end:])


def test_weisfeiler_lehman_cannot_tell_a_ring_from_two_and_paths_can():
    """The textbook pair: six nodes in one ring, or in two of three."""
    one, two = nx.cycle_graph(6), nx.union(nx.cycle_graph(3), nx.cycle_graph([3, 4, 5]))
    for kernel, same in ((K.WeisfeilerLehman(5), True), (K.ShortestPath(), False)):
        normalised = K.Normalized(kernel)
        assert (normalised(one, two) == 1.0) is same


def test_unlabelled_nodes_have_the_label_none():
    kernel = K.WeisfeilerLehman(1)
    edges = [(0, 1), (1, 2)]
    value = kernel((edges, 3), (edges, 3))
    for other in (nx.path_graph(3), (edges, [None] * 3), (np.array(edges), np.int64(3))):
        assert kernel((edges, 3), other) == value
    assert kernel((edges, 3), (edges, ["None"] * 3)) == 0.0


@pytest.mark.parametrize(
    "labels",
    [
        [1, 2, 1],
        (1, 2, 1),
        np.array([1, 2, 1]),
        np.array([1, 2, 1], dtype=np.uint8),
        np.array([1.0, 2.0, 1.0]),
        np.array([1, 2, 1], dtype=object),
        pd.Series([1, 2, 1]),
    ],
)
@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 2)],
        [[1, 0], [2, 1]],
        np.array([(0, 1), (1, 0), (1, 2), (2, 1), (0, 0)], dtype=np.int16),
        np.array([(0, 1), (1, 2)], dtype=np.uint64),
        np.array([(0, 1), (1, 2)]).T,  # its own transpose: read by rows
        pd.DataFrame({"from": [0, 1], "to": [1, 2]}),
    ],
)
def test_edges_and_labels_may_come_in_many_forms(edges, labels):
    plain = ([(0, 1), (1, 2)], [1, 2, 1])
    for kernel in KERNELS:
        assert kernel((edges, labels), plain) == kernel(plain, plain)
        assert kernel([edges, labels], plain) == kernel(plain, plain)


def test_labels_may_be_any_iterable():
    kernel = K.WeisfeilerLehman(0)
    assert kernel(([], "CCO"), ([], ["C", "O"])) == 3.0
    assert kernel(([], (letter for letter in "CCO")), ([], ["C", "O"])) == 3.0


def test_graphs_without_nodes_or_edges():
    nothing, alone = ([], 0), ([], ["C", "C"])
    assert K.WeisfeilerLehman(2)(nothing, nothing) == 0.0
    assert K.WeisfeilerLehman(2)(alone, alone) == 12.0  # 2 nodes in each of 3 rounds
    assert K.ShortestPath()(alone, alone) == 0.0
    assert K.Normalized(K.ShortestPath())(alone, alone) == 0.0
    for algorithm in ("scan", "tree", "dual-tree"):
        index = Index([nothing, nx.Graph(), alone], K.ShortestPath(), algorithm=algorithm)
        values, indices = index.search([alone, ([(0, 1)], 2)], k=3)
        assert (values == 0.0).all()
        assert (indices == [0, 1, 2]).all()


def test_a_single_graph_is_one_query():
    objects = [([(0, 1)], ["C", "O"]), nx.path_graph(3)]
    index = Index(objects, K.WeisfeilerLehman())
    for query in objects:
        assert_identical(index.search(query), index.search([query]))
    assert index.search([]).values.shape == (0, 1)
    assert index.search((nx.path_graph(2), nx.path_graph(3))).indices.tolist() == [[1], [1]]


def test_edges_may_come_in_any_collection():
    """Their order makes no difference, so neither does that of a set."""
    edges, kernel = [(0, 1), (1, 2)], K.WeisfeilerLehman(2)
    graph = nx.Graph(edges)
    wanted = kernel((edges, 3), (edges, 3))
    for given_ in (
        iter(edges),
        set(edges),
        dict.fromkeys(edges).keys(),
        graph.edges(),
        pd.DataFrame(edges),
        np.ma.array(edges, mask=False),
        np.array(edges, dtype=np.uint64),
    ):
        assert kernel((given_, 3), (edges, 3)) == wanted


def test_the_callers_graphs_may_change_afterwards():
    edges, graph = np.array([(0, 1), (1, 2)]), nx.path_graph(4)
    objects = [(edges, 3), graph]
    index = Index(objects, K.ShortestPath())
    before = index.search(nx.path_graph(4), k=2)
    edges[:] = 0
    graph.add_edge(0, 3)
    objects.clear()
    assert_identical(index.search(nx.path_graph(4), k=2), before)


@pytest.mark.parametrize("iterations", [-1, 1.5, "3", None, True, 1001])
def test_iterations_are_checked(iterations):
    with pytest.raises(InvalidArgument, match="iterations must be a whole number from 0 to 1000"):
        K.WeisfeilerLehman(iterations)


def test_kernels_are_values():
    assert K.WeisfeilerLehman(np.int64(2)) == K.WeisfeilerLehman(iterations=2)
    assert repr(K.WeisfeilerLehman()) == "WeisfeilerLehman(iterations=3)"
    assert {K.ShortestPath(): 1}[K.ShortestPath()] == 1
    for kernel in (K.WeisfeilerLehman(), K.ShortestPath()):
        assert kernel.is_mercer
        assert not kernel.is_normalized
        assert kernel.value_range == (0.0, np.inf)


def test_errors_name_queries_and_single_graphs():
    kernel = K.WeisfeilerLehman()
    good, bad = ([(0, 1)], 2), ([(0, 2)], 2)
    index = Index([good], kernel)
    with pytest.raises(InvalidArgument, match=r"queries\[1\] has an edge \(0, 2\)"):
        index.search([good, bad])
    with pytest.raises(InvalidArgument, match=r"^x has an edge"):
        kernel(bad, good)
    with pytest.raises(InvalidArgument, match=r"^y has an edge"):
        kernel(good, bad)
    with pytest.raises(InvalidArgument, match=r"^B\[0\] has an edge"):
        kernel.matrix([good], [bad])
    assert index.search(good).values.shape == (1, 1)  # still usable


def test_networkx_is_not_imported_for_arrays():
    code = (
        "import sys; from fastmks import kernels; "
        "kernels.ShortestPath()(([(0, 1)], 2), ([(0, 1)], 2)); "
        "print({m.split('.')[0] for m in sys.modules} & {'networkx', 'scipy'})"
    )
    assert run_python(code).stdout.strip() == "set()"


def count(counts, name="objects[{}]".format):
    """A store of one feature, which object i has counts[i] times."""
    vocabulary = Vocabulary()
    vocabulary.number(["a"])
    n = len(counts)
    zeros = np.zeros(n, dtype=np.int32)
    return make_counts(
        np.arange(n),
        zeros,
        np.array(counts, dtype=np.int64),
        n_objects=n,
        vocabulary=vocabulary,
        noun="things",
        name=name,
    )


def test_large_counts_are_kept_exactly_or_refused():
    assert count([2**24]).counts.values.dtype == np.float32
    large = count([1, 2**24 + 1])
    assert large.counts.values.dtype == np.float64
    assert large.counts.values.tolist() == [1.0, 2.0**24 + 1]
    most = 94_906_265  # the largest whole number whose square is below 2^53
    assert count([most]).counts.values.tolist() == [float(most)]
    with pytest.raises(InvalidArgument, match=r"objects\[1\] is too large: K\(x, x\) is 9.01e\+15"):
        count([most, most + 1])


def test_a_graph_of_too_many_equal_pairs_is_refused():
    """A star of 14 000 rays: 98 million pairs at distance 2, more than can be squared exactly."""
    star = np.zeros((14_000, 2), dtype=np.int64)
    star[:, 1] = np.arange(1, 14_001)
    with pytest.raises(InvalidArgument, match=r"objects\[1\] is too large"):
        Index([([], 1), (star, 14_001)], K.ShortestPath())


def test_counts_beyond_float32_are_exact():
    """A star of 6 000 rays: 18 million pairs at distance 2."""
    star = np.zeros((6_000, 2), dtype=np.int64)
    star[:, 1] = np.arange(1, 6_001)
    pairs = 6_000 * 5_999 // 2
    assert pairs > 2**24
    assert K.ShortestPath()((star, 6_001), (star, 6_001)) == 6_000**2 + pairs**2


def test_a_vocabulary_is_extended_without_being_changed():
    known = Vocabulary()
    assert known.number("abca").tolist() == [0, 1, 2, 0]
    more = Vocabulary(known)
    assert more.number("cxax").tolist() == [2, 3, 0, 3]
    assert (len(known), len(more), known.find("x"), more.find("b")) == (3, 4, None, 1)
    assert Vocabulary(more).number("xyb").tolist() == [3, 4, 1]


@pytest.mark.parametrize("fault", ["labels", "neighbours", "offsets", "graphs"])
def test_the_core_refuses_what_are_no_graphs(fault):
    arrays = {
        "graphs": np.array([0, 2]),
        "offsets": np.array([0, 1, 2]),
        "neighbours": np.array([1, 0], dtype=np.int32),
        "labels": np.zeros(2, dtype=np.int32),
    }
    assert [column.tolist() for column in _core.path_counts(**arrays)] == [[0], [0], [0], [1], [1]]
    arrays[fault] = {
        "labels": np.zeros(1, dtype=np.int32),
        "neighbours": np.array([1, 2], dtype=np.int32),
        "offsets": np.array([0, 3, 2]),
        "graphs": np.array([], dtype=np.int64),
    }[fault]
    with pytest.raises(ValueError, match=r"must|belong together"):
        _core.path_counts(**arrays)


def test_ctrl_c_stops_the_counting_of_paths():
    """A ring of 60 000 nodes takes many seconds of CPU."""
    code = """if True:
        import os, signal, threading, time
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
        import numpy as np
        from fastmks import kernels
        nodes = np.arange(60_000)
        ring = (np.stack([nodes, np.roll(nodes, 1)], axis=1), len(nodes))
        def interrupt():
            global pressed
            time.sleep(0.5)
            pressed = time.process_time()
            os.kill(os.getpid(), signal.SIGINT)
        try:
            threading.Thread(target=interrupt).start()
            kernels.ShortestPath()(ring, ring)
        except KeyboardInterrupt:
            print(time.process_time() - pressed)
    """
    run = run_python(code)
    assert float(run.stdout) < 0.5
