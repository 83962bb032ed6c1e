"""The kernels that the page offers for the objects of an index, and no others."""

import re
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastmks._util.arithmetic import own_arithmetic
from fastmks.engines.filters.choose import has_offer
from fastmks.engines.space import Space
from fastmks.errors import FastmksError
from fastmks.kernels import Kernel, Normalized, as_kernel
from fastmks.kernels.objects import read_objects
from fastmks.service.page.drawing import Form, len_of

__all__ = ["OWN", "Choice", "list_choices"]

OWN = "own"  # the name in requests of the kernel of the index
_N_PAIRS = 32  # objects whose values with each other show the scale of a kernel
_SECONDS = 1.0  # that evaluating these may take, all kernels together
_FEW = 20_000  # objects whose tree is soon built, even where it takes all pairs
_WIDEST = 4096  # columns of rows whose distances are computed
_TEXTS = {
    "bits": ("tanimoto", "cosine", "linear"),
    "graph": ("normalized:weisfeilerlehman", "normalized:shortestpath"),
    "image": ("linear", "cosine", "polynomial:degree=2"),
    "row": ("linear", "cosine", "polynomial:degree=2"),
    "sequence": ("normalized:spectrum:p=1", "normalized:spectrum:p=2", "normalized:spectrum:p=3"),
    "set": ("jaccard",),
    "text": ("normalized:spectrum:p=1", "normalized:spectrum:p=2", "normalized:spectrum:p=3"),
}


@dataclass(frozen=True)
class Choice:
    """A kernel that can be compared.

    Attributes
    ----------
    text : str
        Its name in requests.
    kernel : Kernel
        The kernel.
    algorithms : tuple of str
        The algorithms that can search under it.
    epsilon_most : float
        A value of epsilon that allows almost any answer.
    can_settle : bool
        Whether the page lets "auto" measure scan and filter before it answers: there are many
        objects, and a filter is built without evaluations.
    """

    text: str
    kernel: Kernel
    algorithms: tuple[str, ...]
    epsilon_most: float
    can_settle: bool

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "text": self.text,
            "label": short_name(self.kernel),
            "algorithms": list(self.algorithms),
            "epsilon_most": self.epsilon_most,
        }


def list_choices(
    own: Kernel, form: Form, sample: Any, *, n_objects: int, is_large: bool, has_tree: bool
) -> list[Choice]:
    """Return the kernels to compare, that of the index first.

    A large index is searched as it is: under its own kernel, and with a tree only where it has one.
    """
    is_many = n_objects > _FEW
    texts = () if is_large else _texts(form, sample)
    found = {own: OWN}
    for text in texts:
        found.setdefault(as_kernel(text), text)
    choices = []
    for kernel, text in found.items():
        has_offer = not is_large and _has_offer(kernel, sample)
        # A tree of few vectors is soon built, whatever they are.
        has_quick_tree = (has_tree and text == OWN) or (form.is_vector and not is_many)
        algorithms = (
            _large_algorithms(kernel, form, has_tree=has_tree)
            if is_large
            else _algorithms(
                kernel, form, has_tree=has_quick_tree, has_offer=has_offer, is_many=is_many
            )
        )
        spread = _spread(kernel, sample, _SECONDS / len(found))
        choices.append(Choice(text, kernel, algorithms, spread, is_many and has_offer))
    return choices


def short_name(kernel: Kernel) -> str:
    """Return a kernel as text, without parameters that have their defaults."""
    if isinstance(kernel, Normalized):
        return f"{short_name(kernel.kernel)}, normalized"
    text = repr(kernel)
    for default in (", offset=0.0, scale=1.0", "substitution='BLOSUM62', ", "()"):
        text = text.replace(default, "")
    return re.sub(r"(?<=\d)\.0(?=[,)])", "", text)


def _texts(form: Form, sample: Any) -> tuple[str, ...]:
    texts = _TEXTS.get(form.name, ())
    if form.is_vector and form.n_columns <= _WIDEST:
        texts = (*texts, f"gaussian:bandwidth={_bandwidth(sample):g}")
    return texts


def _large_algorithms(kernel: Kernel, form: Form, *, has_tree: bool) -> tuple[str, ...]:
    return ("tree", "auto", "scan") if has_tree and _is_mercer(kernel, form) else ("auto", "scan")


def _algorithms(
    kernel: Kernel, form: Form, *, has_tree: bool, has_offer: bool, is_many: bool
) -> tuple[str, ...]:
    """Return the algorithms, first the one that the page begins with.

    It is one that prunes and is quickly built; of many objects "auto", by what it measures.
    """
    is_mercer = _is_mercer(kernel, form)
    known = ["auto", "scan"]
    if is_mercer or has_offer:
        known.insert(1, "filter")
    if is_mercer:
        known.insert(2, "tree")
    first = "tree" if is_mercer and has_tree else "filter" if has_offer and not is_many else "auto"
    return first, *(name for name in known if name != first)


def _is_mercer(kernel: Kernel, form: Form) -> bool:
    return kernel.mercer_columns >= max(1, form.n_columns)


def _has_offer(kernel: Kernel, sample: Any) -> bool:
    """Whether a filter can be built without evaluations."""
    try:
        return has_offer(Space(read_objects(sample[:2], kernel), kernel))
    except FastmksError:  # of kernels of precomputed values
        return False


def _bandwidth(sample: Any) -> float:
    """Return the median distance within the sample, to two digits."""
    rows = np.asarray(sample.toarray() if hasattr(sample, "toarray") else sample, np.float64)
    with own_arithmetic():
        squares = np.square(rows[:, None, :] - rows[None, :_N_PAIRS, :]).sum(axis=2)
        distance = float(np.median(np.sqrt(squares)))
    rounded = float(f"{distance:.2g}")
    return rounded if np.isfinite(rounded) and rounded > 0.0 else 1.0


def _spread(kernel: Kernel, sample: Any, seconds: float) -> float:
    """Return the spread of the values of different objects, to two digits.

    With time for one value only, it is the distance of that value from 0.
    """
    try:
        values = _some_values(kernel, sample, seconds)
    except FastmksError:  # of kernels of precomputed values
        return 1.0
    if len(values) == 0:
        return 1.0
    with own_arithmetic():
        least = 0.0 if len(values) == 1 else np.median(values)
        spread = float(f"{abs(values.max() - least):.2g}")
    return spread if np.isfinite(spread) and spread > 0.0 else 1.0


def _some_values(kernel: Kernel, sample: Any, seconds: float) -> np.ndarray[Any, Any]:
    """Return values of different objects: one, then of twice as many objects while time is left.

    Twice as many objects take about four times as long. Only a kernel whose single value takes
    longer exceeds the time.
    """
    n_objects = min(_N_PAIRS, len_of(sample))
    if n_objects < 2:
        return np.empty(0)
    begin = time.monotonic()
    values = kernel.matrix(sample[:1], sample[1:2]).ravel()
    taken, n = 4.0 * (time.monotonic() - begin), 2
    while n < n_objects and time.monotonic() + 4.0 * taken < begin + seconds:
        n, last = min(2 * n, n_objects), time.monotonic()
        square = kernel.matrix(sample[:n])
        values, taken = square[~np.eye(n, dtype=bool)], time.monotonic() - last
    return values
