"""Progress bars for long work, only where they are asked for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Progress"]


@dataclass(frozen=True)
class Progress:
    """Shows a bar on standard error, or nothing."""

    shown: bool

    @contextmanager
    def bar(
        self, total: int, *, unit: str = " evaluations"
    ) -> Iterator[Callable[[int], None] | None]:
        """Yield what to call with the amount of work done so far; None when nothing is shown."""
        if not self.shown:
            yield None
            return
        from tqdm import tqdm  # here, since importing it costs time that few need

        with tqdm(total=total, unit=unit, unit_scale=True) as bar:
            yield lambda done: (bar.update(done - bar.n), None)[1]
            bar.update(total - bar.n)
