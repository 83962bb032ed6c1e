"""The package's own arithmetic in numpy, apart from the caller's floating-point settings."""

from contextlib import ContextDecorator

import numpy as np


class own_arithmetic(ContextDecorator):  # noqa: N801, a context manager
    """A block or a function whose overflow, underflow and NaN are expected.

    With any ``np.errstate`` and warnings filter of the caller, nothing is raised or warned of
    there: results are checked where they matter. All of the package's floating-point arithmetic in
    numpy is in such a block. None of them calls a user's function, so these run under the state
    that the user has set.
    """

    def __enter__(self) -> None:
        self._state = np.errstate(all="ignore")
        self._state.__enter__()

    def __exit__(self, *_raised: object) -> None:
        self._state.__exit__(None, None, None)

    def _recreate_cm(self) -> "own_arithmetic":
        """Return one for a call of a decorated function, which other threads may call too."""
        return own_arithmetic()
