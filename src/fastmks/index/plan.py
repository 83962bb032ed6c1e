"""The plan of a search: the engine chosen, the reason, and the costs of every engine."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fastmks._util.wording import counted

_CLEARLY = 1.2  # times faster


@dataclass(frozen=True)
class Forecast:
    """The cost of a search with one engine, as far as it is known, and the reason for or against.

    Attributes
    ----------
    seconds_per_query : float or None
        Measured, or forecast from a sample; None where neither was done.
    build_seconds : float or None
        The time to build what is missing; None where nothing can or need be built.
    basis : str
        Where the figures come from.
    reason : str
        Why the engine is used or not.
    evaluations : float or None
        Evaluations of a query.
    """

    seconds_per_query: float | None
    build_seconds: float | None
    basis: str
    reason: str = ""
    evaluations: float | None = None

    def seconds(self, n_queries: int) -> float | None:
        """Return the seconds of a search, including what must be built for it."""
        if self.seconds_per_query is None:
            return None
        return (self.build_seconds or 0.0) + n_queries * self.seconds_per_query


@dataclass(frozen=True)
class Plan:
    """The planner's choice for a search, and why. Prints as a table.

    Attributes
    ----------
    algorithm : str
        The engine chosen.
    reason : str
        Why, in words.
    forecasts : mapping of str to Forecast
        The cost of each engine that was considered.
    n_queries, n_objects, k : int
        The search.
    planning_seconds : float
        The time of planning, trials included.

    Examples
    --------
    >>> import fastmks
    >>> plan = fastmks.Index([[3.0, 0.0], [0.0, 2.0]]).explain([[1.0, 2.0]])
    >>> plan.algorithm, plan.reason
    ('scan', 'fewer than 512 objects are scanned quickly')
    """

    algorithm: str
    reason: str
    forecasts: Mapping[str, Forecast]
    n_queries: int
    n_objects: int
    k: int
    planning_seconds: float = 0.0

    @property
    def is_clear(self) -> bool:
        """Whether earlier searches show that another engine would be much slower."""
        own = self.forecasts.get(self.algorithm)
        if own is None or not own.seconds_per_query or own.build_seconds:
            return False
        times = [one.seconds_per_query for one in self.forecasts.values() if one is not own]
        known = [seconds for seconds in times if seconds is not None]
        return bool(known) and min(known) > _CLEARLY * own.seconds_per_query

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain values.

        Examples
        --------
        >>> import fastmks
        >>> fastmks.Index([[3.0, 0.0], [0.0, 2.0]]).explain([[1.0, 2.0]]).as_dict()["n_objects"]
        2
        """
        return asdict(self)

    def __str__(self) -> str:
        asked, among = counted(self.n_queries, "query"), counted(self.n_objects, "object")
        search = f"{asked}, k = {self.k}, among {among}"
        lines = [f"{search}: {self.algorithm}, since {self.reason}."]
        if self.forecasts:
            lines.append(
                f"{'engine':<8}{'seconds':>12}{'per query':>12}{'evaluations':>13}"
                f"{'to build':>12}  why"
            )
        for name, forecast in self.forecasts.items():
            figures = (
                (forecast.seconds(self.n_queries), 12),
                (forecast.seconds_per_query, 12),
                (forecast.evaluations, 13),
                (forecast.build_seconds, 12),
            )
            shown = "".join(f"{'-' if n is None else f'{n:.3g}':>{w}}" for n, w in figures)
            why = "; ".join(text for text in (forecast.reason, forecast.basis) if text)
            lines.append(f"{name:<8}{shown}  {why}")
        lines.append(f"Decided in {self.planning_seconds:.3g} s.")
        return "\n".join(lines)


def merge_plans(plans: Sequence[Plan], k: int) -> Plan:
    """Return one plan from those of several parts, the largest first: its choice, and all costs.

    Where a part has no forecast for an engine, that of the engine it would use stands in.
    """
    if len(plans) == 1:
        return plans[0]
    main, others = plans[0], plans[1:]
    forecasts = {}
    for name, own in main.forecasts.items():
        rest = [plan.forecasts.get(name, plan.forecasts.get(plan.algorithm)) for plan in others]
        known = [forecast for forecast in rest if forecast is not None]
        all_ = [own, *known]
        forecasts[name] = Forecast(
            _sum([forecast.seconds_per_query for forecast in all_]),
            _sum([forecast.build_seconds for forecast in all_]),
            own.basis,
            own.reason,
            _sum([forecast.evaluations for forecast in all_]),
        )
    return Plan(
        main.algorithm,
        f"{main.reason} ({len(others)} smaller parts are planned apart)",
        forecasts,
        main.n_queries,
        sum(plan.n_objects for plan in plans),
        k,
        sum(plan.planning_seconds for plan in plans),
    )


def _sum(figures: Sequence[float | None]) -> float | None:
    """Return the sum of those that are known; None where the first is not."""
    return None if figures[0] is None else sum(figure or 0.0 for figure in figures)
