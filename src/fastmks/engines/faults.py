"""Faults of the core, which knows places only, as errors with the ids of the objects."""

from collections.abc import Callable
from typing import Any, TypeAlias

from fastmks import _core
from fastmks.errors import (
    FastmksError,
    IndexFileError,
    InvalidArgument,
    KernelValueError,
    NotMercerError,
)
from fastmks.kernels.base import Kernel
from fastmks.kernels.object_kernel import leaves

Namer: TypeAlias = Callable[[int], str]

_MOST_PIVOTS_NAMED = 8
_SCAN_INSTEAD = (
    "Trees and pivots need a Mercer kernel: pass algorithm='scan' to search without one."
)


def finite_advice(kernel: Kernel) -> str:
    """Return the advice of each kind of kernel in an expression."""
    return " ".join(dict.fromkeys(leaf.finite_advice for _, leaf in leaves(kernel)))


class named_faults:  # noqa: N801, a context manager; every search enters it
    """Turn faults of the core into errors with the ids of the objects."""

    __slots__ = ("kernel", "name_object", "name_query")

    def __init__(self, kernel: Kernel, name_query: Namer, name_object: Namer) -> None:
        self.kernel = kernel
        self.name_query = name_query
        self.name_object = name_object

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, fault: Any, _trace: Any) -> None:
        if kind in _ERRORS:
            raise _ERRORS[kind](self, *fault.args) from None

    def pair(self, query: int, place: int) -> str:
        """Return the texts for a query and an object, or `itself`."""
        other = "itself" if place == _core.itself else self.name_object(place)
        return f"{self.name_query(query)} and {other}"

    def value(self, query: int, place: int, value: float) -> str:
        """Return the value that the kernel gives a pair, as the beginning of a sentence."""
        return f"{self.kernel!r} gives {self.pair(query, place)} the value {value}"


def _not_finite(at: named_faults, query: int, place: int, value: float) -> FastmksError:
    return KernelValueError(
        f"{at.value(query, place, value)}; a ranking needs finite values. "
        f"{finite_advice(at.kernel)}"
    )


def _self_value(at: named_faults, place: int, value: float) -> FastmksError:
    cause = f"{at.kernel!r} cannot be normalised: K(x, x) = {value} for {at.name_object(place)},"
    if value < 0:
        return NotMercerError(
            f"{cause} and a Mercer kernel has no negative K(x, x). Use the kernel without "
            "Normalized."
        )
    return KernelValueError(
        f"{cause} which is not a zero object: below 1e-270 its digits may be lost to underflow. "
        "Rescale the objects; for vectors, use Cosine() in place of Normalized(Linear())."
    )


def _missing_self_value(at: named_faults, query: int) -> FastmksError:
    return InvalidArgument(
        f"{at.name_query(query)} comes without K(query, query), which trees, pivots and "
        "Normalized need beside the values with the objects. Add it as a last column, or pass "
        "algorithm='scan'."
    )


def _returned(at: named_faults, query: int, place: int, problem: str) -> FastmksError:
    return KernelValueError(f"{at.kernel!r} was asked for {at.pair(query, place)}, and {problem}.")


def _not_mercer(
    at: named_faults, query: int, place: int, value: float, limit: float
) -> FastmksError:
    cause = at.value(query, place, value)
    if place == _core.itself:
        return NotMercerError(f"{cause}; a Mercer kernel has no negative K(x, x). {_SCAN_INSTEAD}")
    return NotMercerError(
        f"{cause}; their values with themselves allow a Mercer kernel at most {limit:.6g} in "
        f"magnitude. {_SCAN_INSTEAD}"
    )


def _triangle(
    at: named_faults, a: int, b: int, c: int, ab: float, bc: float, ca: float
) -> FastmksError:
    return NotMercerError(
        f"{at.kernel!r} puts {at.name_object(a)}, {at.name_object(b)} and {at.name_object(c)} at "
        f"distances {ab:.6g}, {bc:.6g} and {ca:.6g} from each other, which no Mercer kernel does: "
        f"one exceeds the sum of the others. {_SCAN_INSTEAD}"
    )


def _pivots(
    at: named_faults, query: int, place: int, value: float, limit: float, pivots: list[int]
) -> FastmksError:
    shown = ", ".join(map(at.name_object, pivots[:_MOST_PIVOTS_NAMED]))
    if len(pivots) > _MOST_PIVOTS_NAMED:
        shown += f" and {len(pivots) - _MOST_PIVOTS_NAMED} more"
    if place == _core.itself:
        return NotMercerError(
            f"{at.kernel!r} gives {at.name_query(query)} values with {shown} that take "
            f"K(x, x) >= {value:.6g} of a Mercer kernel; it is {limit:.6g}. {_SCAN_INSTEAD}"
        )
    return NotMercerError(
        f"{at.value(query, place, value)}; their values with {shown} allow a Mercer kernel at "
        f"most {limit:.6g}. {_SCAN_INSTEAD}"
    )


def _asymmetry(at: named_faults, a: int, b: int, ab: float, ba: float) -> FastmksError:
    return KernelValueError(
        f"{at.value(a, b, ab)}, and in the other order {ba}: it is not symmetric bit for bit. "
        "Leave symmetric=True out."
    )


def _above_bound(
    at: named_faults, query: int, place: int, value: float, bound: float
) -> FastmksError:
    return KernelValueError(
        f"{at.value(query, place, value)}, more than its upper bound {bound}. An upper bound must "
        "be at least the value; pass algorithm='scan' to search without it."
    )


def _damage(_at: named_faults, _what: str) -> FastmksError:
    return IndexFileError(
        "a tree or filter of the index loses objects: the file that it was loaded from was "
        "changed after it was written. Build the index again from its objects. (If it came from "
        "no file, this is a fault of fastmks: algorithm='scan' needs neither.)"
    )


# CoordinateFault is not here: the filter of codes raises its error.
_ERRORS: dict[type[BaseException] | None, Callable[..., FastmksError]] = {
    _core.ValueFault: _not_finite,
    _core.SelfValueFault: _self_value,
    _core.MissingSelfValue: _missing_self_value,
    _core.ReturnFault: _returned,
    _core.NotMercerFault: _not_mercer,
    _core.TriangleFault: _triangle,
    _core.PivotFault: _pivots,
    _core.AsymmetryFault: _asymmetry,
    _core.BoundFault: _above_bound,
    _core.DamageFault: _damage,
}
