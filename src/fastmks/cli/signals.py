"""End by a signal with an exception, so that unfinished files are removed."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# An exception of a handler is lost when it is raised in a call from C code that clears errors, or
# in a destructor. A lost one is raised again after this many seconds.
_AGAIN = 1.0


@contextmanager
def end_by_signals() -> Iterator[None]:
    """Raise `KeyboardInterrupt` at SIGINT and `SystemExit` at SIGTERM, until one gets through."""
    has_timer = hasattr(signal, "setitimer")
    received: list[BaseException] = []

    def end(number: int, _: FrameType | None) -> None:
        if has_timer:
            signal.signal(signal.SIGALRM, lambda _, frame: end(number, frame))
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        is_interrupt = number == signal.SIGINT
        received.append(KeyboardInterrupt() if is_interrupt else SystemExit(128 + number))
        raise received[-1]

    report = sys.unraisablehook

    def report_others(lost: "sys.UnraisableHookArgs") -> None:
        if not received:
            report(lost)

    sys.unraisablehook = report_others
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    except Exception:
        if received:  # an import of compiled code makes an ImportError of it
            raise received[-1] from None
        raise
    finally:
        if has_timer:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        sys.unraisablehook = report
