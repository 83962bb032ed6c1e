"""Graphs of neighbours in pipelines: values, connectivity, distances that others can use."""

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, SpectralClustering
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import Isomap
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer
from sklearn.pipeline import make_pipeline

from fastmks import InvalidArgument, NotMercerError, kernels
from fastmks.kernels import Cosine, Gaussian, Linear, Normalized, Polynomial, Spectrum
from fastmks.sklearn import KernelNeighborsClassifier, KernelNeighborsTransformer


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(150, centers=3, cluster_std=0.4, random_state=0)


@pytest.mark.parametrize("mode", ["values", "connectivity"])
def test_a_transformer_is_the_graph_of_its_neighbours(blobs, mode):
    X = blobs[0]
    model = KernelNeighborsTransformer(4, kernel=Gaussian(), mode=mode)
    graph = model.fit_transform(X)
    wanted = model.kneighbors_graph(X, mode=mode)
    assert graph.shape == (150, 150)
    np.testing.assert_array_equal(graph.toarray(), wanted.toarray())
    assert (np.diff(graph.indptr) == 4).all()
    assert (graph.toarray() != 0).any(axis=1).all()


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(2.0), Cosine(), Normalized(Polynomial(2, offset=1.0)), Gaussian() + Cosine()],
)
def test_distances_are_those_of_the_hilbert_space_nearest_first(blobs, kernel):
    X, Q = blobs[0][:100], blobs[0][100:]
    graph = KernelNeighborsTransformer(6, kernel=kernel, mode="distance").fit(X).transform(Q)
    self_value = kernel(X[0], X[0])
    all_distances = np.sqrt(np.maximum(2 * self_value - 2 * kernel.matrix(Q, X), 0.0))
    distances, indices = graph.data.reshape(-1, 7), graph.indices.reshape(-1, 7)
    assert (np.diff(distances, axis=1) >= 0).all()
    np.testing.assert_allclose(np.sort(all_distances, axis=1)[:, :7], distances, atol=1e-6)
    np.testing.assert_allclose(
        np.take_along_axis(all_distances, indices, axis=1), distances, atol=1e-6
    )


def test_each_fitted_object_is_its_own_nearest_at_zero(blobs):
    graph = KernelNeighborsTransformer(5, kernel="gaussian", mode="distance").fit_transform(
        blobs[0]
    )
    assert (np.diff(graph.indptr) == 6).all()
    np.testing.assert_array_equal(graph.indices[::6], np.arange(150))
    np.testing.assert_array_equal(graph.data[::6], 0.0)


def test_unit_vectors_under_an_inner_product_have_distances(blobs):
    X = blobs[0] / np.linalg.norm(blobs[0], axis=1, keepdims=True)
    ours = KernelNeighborsTransformer(5, kernel="linear", mode="distance").fit(X)
    theirs = KNeighborsTransformer(n_neighbors=5).fit_transform(X)
    np.testing.assert_allclose(ours.transform(X).toarray(), theirs.toarray(), atol=1e-7)
    far = ours.transform([[3.0, 4.0]])  # of a length of its own: K(query, query) is its own too
    wanted = np.sort(np.linalg.norm(X - [3.0, 4.0], axis=1))[:6]
    np.testing.assert_allclose(far.data, wanted)


def test_where_the_greatest_values_are_not_the_nearest_there_are_no_distances(blobs):
    X = blobs[0]
    with pytest.raises(InvalidArgument, match=r"Linear\(\) has K\(x, x\) from .* Normalized"):
        KernelNeighborsTransformer(mode="distance").fit(X)
    with pytest.raises(InvalidArgument, match=r"Cosine\(\) has K\(x, x\) from 0.0 to 1.0"):
        KernelNeighborsTransformer(kernel="cosine", mode="distance").fit(np.vstack([X, [[0, 0]]]))
    with pytest.raises(InvalidArgument, match="needs a Mercer kernel: Tanh"):
        KernelNeighborsTransformer(kernel="tanh", mode="distance").fit(X)


def test_a_kernel_that_only_claims_to_be_mercer_is_named():
    def liar(x, y):
        return 1.0 if x == y else 5.0

    model = KernelNeighborsTransformer(1, kernel=liar, mode="distance").fit(["a", "b", "c"])
    with pytest.raises(NotMercerError, match=r"X\[0\] and object 1 a squared distance of -8"):
        model.transform(["a"])


def test_modes_are_checked_and_distances_need_a_fit(blobs):
    X = blobs[0]
    with pytest.raises(InvalidArgument, match="'connectivity', 'values', 'distance'; got 'graph'"):
        KernelNeighborsTransformer(mode="graph").fit(X)
    model = KernelNeighborsTransformer(kernel="gaussian").fit(X).set_params(mode="distance")
    with pytest.raises(InvalidArgument, match="mode='distance' must be set before fit"):
        model.transform(X)
    model = KernelNeighborsTransformer(3, kernel="gaussian", mode="distance").fit(X[:3])
    with pytest.raises(InvalidArgument, match="between 1 and the 2 objects"):
        model.transform(X)


def test_scikit_learns_classifier_takes_the_distances():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(
        KernelNeighborsTransformer(10, kernel=Gaussian(2.0), mode="distance"),
        KNeighborsClassifier(5, metric="precomputed"),
    ).fit(X[::2], y[::2])
    ours = KernelNeighborsClassifier(5, kernel=Gaussian(2.0)).fit(X[::2], y[::2])
    np.testing.assert_array_equal(model.predict(X[1::2]), ours.predict(X[1::2]))


def test_a_clustering_by_density_takes_the_distances(blobs):
    X = blobs[0]
    # Within 0.5 in the Hilbert space of Gaussian(1) is within a distance of about 0.52.
    dense = make_pipeline(
        KernelNeighborsTransformer(60, kernel=Gaussian(1.0), mode="distance"),
        DBSCAN(eps=0.5, metric="precomputed"),
    ).fit_predict(X)
    radius = np.sqrt(-2 * np.log(1 - 0.5**2 / 2))
    np.testing.assert_array_equal(dense, DBSCAN(eps=radius).fit_predict(X))


def test_a_spectral_clustering_takes_the_distances():
    X = np.random.default_rng(0).normal(size=(150, 2)) * [4.0, 1.0]
    clustering = SpectralClustering(
        2, affinity="precomputed_nearest_neighbors", n_neighbors=40, random_state=0
    )
    ours = KernelNeighborsTransformer(60, kernel=Gaussian(5.0), mode="distance")
    theirs = KNeighborsTransformer(n_neighbors=60)
    labels = make_pipeline(ours, clustering).fit_predict(X)
    np.testing.assert_array_equal(labels, make_pipeline(theirs, clustering).fit_predict(X))
    assert set(labels) == {0, 1}


def test_a_manifold_is_learnt_from_the_distances():
    X = np.random.default_rng(0).normal(size=(60, 3)) * [3.0, 2.0, 0.1]
    ours = make_pipeline(
        KernelNeighborsTransformer(12, kernel=Gaussian(20.0), mode="distance"),
        Isomap(n_neighbors=12, metric="precomputed"),
    ).fit_transform(X)
    # So wide a Gaussian has the distances of the vectors, but for a factor and rounding.
    theirs = Isomap(n_neighbors=12).fit_transform(X)
    for column in range(2):
        assert abs(np.corrcoef(ours[:, column], theirs[:, column])[0, 1]) > 0.999


@pytest.mark.parametrize("mode", ["values", "connectivity"])
def test_values_are_features_for_a_linear_model(mode):
    words = ["kernel", "kernels", "colonel", "search", "research", "searching"] * 4
    labels = ["k", "k", "k", "s", "s", "s"] * 4
    model = make_pipeline(
        KernelNeighborsTransformer(8, kernel=Normalized(Spectrum(2)), mode=mode),
        LogisticRegression(),
    ).fit(words, labels)
    assert model.predict(["kern", "sear"]).tolist() == ["k", "s"]


def test_distances_of_strings_and_of_matrices():
    words = ["kernel", "colonel", "search", "research"]
    kernel = Normalized(Spectrum(2))
    graph = KernelNeighborsTransformer(2, kernel=kernel, mode="distance").fit_transform(words)
    gram = kernel.matrix(words)
    matrices = KernelNeighborsTransformer(2, kernel=kernels.Precomputed(), mode="distance").fit(
        gram
    )
    rows = np.column_stack([gram, np.diag(gram)])
    np.testing.assert_allclose(matrices.transform(rows).toarray(), graph.toarray(), atol=1e-7)
    with pytest.raises(InvalidArgument, match="last column"):
        matrices.transform(gram)


def test_names_of_columns():
    model = KernelNeighborsTransformer(1).fit([[1.0], [2.0]])
    assert model.get_feature_names_out().tolist() == [
        "kernelneighborstransformer0",
        "kernelneighborstransformer1",
    ]
    assert Linear() == model.index_.kernel


def test_what_is_equal_but_for_rounding_is_at_zero():
    X = np.random.default_rng(0).normal(size=(30, 5))
    twins = np.vstack([X, X * (1 + 1e-12)])
    model = KernelNeighborsTransformer(1, kernel=Normalized(Polynomial(3)), mode="distance")
    np.testing.assert_array_equal(model.fit_transform(twins).data, 0.0)


def test_a_fit_that_fails_fits_nothing():
    model = KernelNeighborsTransformer(1, kernel="linear", mode="distance")
    with pytest.raises(InvalidArgument):
        model.fit([[1.0], [2.0]])
    with pytest.raises(NotFittedError):
        model.transform([[1.0]])
