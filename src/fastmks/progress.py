"""Progress bars for long work, only where they are asked for."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Progress"]

_Report: TypeAlias = Callable[[int], None]
_HIDDEN: AbstractContextManager[_Report | None] = nullcontext()


@dataclass(frozen=True)
class Progress:
    """Shows a bar on standard error, or nothing."""

    shown: bool

    def bar(
        self, total: int | None, *, unit: str = " evaluations"
    ) -> AbstractContextManager[_Report | None]:
        """Give what to call with the amount of work done so far; None when nothing is shown.

        A total of None is one that is not known.
        """
        return _bar(total, unit) if self.shown else _HIDDEN


@contextmanager
def _bar(total: int | None, unit: str) -> Iterator[_Report]:
    from tqdm import tqdm  # here, since importing it costs time that few need

    with tqdm(total=total, unit=unit, unit_scale=True) as bar:
        yield lambda done: (bar.update(done - bar.n), None)[1]
        if total is not None:
            bar.update(total - bar.n)
