"""A simulated cluster: searches of up to 1000 nodes and 10^9 objects, from the fitted model.

Nothing here is measured. A client sends one message a node, one after the other (c1 each); a node
works as long as the model says, times a factor of chance, as nodes of real clusters differ; answers
are merged in a tree as they come. The slowest node decides.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

_FAN_IN = 8
_SPREAD = 0.1  # standard deviation of the logarithm of a node's time
_TRIALS = 200


class Forecast(NamedTuple):
    """Seconds of one batch of queries: by the model, and simulated with slow nodes (median)."""

    model: float
    simulated: float


def simulate(
    laws: Mapping[str, float], *, algorithm: str, n_objects: int, n_nodes: int, batch: int
) -> Forecast:
    """Return the forecast for one number of nodes."""
    work = work_of_node(laws, algorithm, max(1.0, n_objects / n_nodes)) * batch
    model = laws["c0"] + laws["c1"] * n_nodes + work
    rng = np.random.default_rng([n_nodes, n_objects % 2**32])
    sent = laws["c1"] * np.arange(1, n_nodes + 1)
    ends = []
    for _ in range(_TRIALS):
        done = sent + work * rng.lognormal(0.0, _SPREAD, n_nodes)
        depth = math.ceil(math.log(max(n_nodes, 2), _FAN_IN))
        ends.append(laws["c0"] + float(done.max()) + laws["c1"] * depth)
    return Forecast(model, float(np.median(ends)))


def work_of_node(laws: Mapping[str, float], algorithm: str, n_objects: float) -> float:
    """Return the seconds of one query among the objects of one node, by one of three laws."""
    if algorithm == "scan":
        return max(0.0, laws["scan at zero"] + laws["c2"] * n_objects)
    if algorithm == "tree":
        return max(0.0, laws["tree at zero"] + laws["c2'"] * math.log2(n_objects))
    timed = n_objects / laws["tree timed, objects"]
    return float(laws["tree timed, seconds"] * timed ** laws["tree exponent"])
