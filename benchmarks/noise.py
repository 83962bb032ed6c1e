"""How much of the machine other processes took while something ran."""

import os
import time
from pathlib import Path
from typing import NamedTuple

__all__ = ["Moment", "now", "others_share", "wait_for_quiet"]

_STATISTICS = Path("/proc/stat")


class Moment(NamedTuple):
    """Seconds so far: on the clock, of CPU by this process, and of CPU by the whole machine."""

    clock: float
    mine: float
    everyone: float | None  # not known on every system


def now() -> Moment:
    """Return where the counters stand."""
    return Moment(time.perf_counter(), time.process_time(), _busy_seconds())


def others_share(before: Moment, after: Moment) -> float | None:
    """Return the share of all CPUs' time that went to others between two moments."""
    if before.everyone is None or after.everyone is None or after.clock <= before.clock:
        return None
    others = (after.everyone - before.everyone) - (after.mine - before.mine)
    share = others / ((after.clock - before.clock) * (os.cpu_count() or 1))
    return min(1.0, max(0.0, share))  # the ticks of the system are coarser than the clock


def wait_for_quiet(most: float, *, seconds: float) -> None:
    """Sleep until others take at most the share `most` of the machine, or for `seconds`."""
    end = time.perf_counter() + seconds
    before = now()
    while time.perf_counter() < end:
        time.sleep(2.0)
        before, share = now(), others_share(before, now())
        if share is None or share <= most:
            return


def _busy_seconds() -> float | None:
    try:
        counts = _STATISTICS.read_text(encoding="ascii").split("\n", maxsplit=1)[0].split()
    except OSError:
        return None
    user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = map(int, counts[1:9])
    ticks = user + nice + system + interrupts + soft_interrupts + stolen
    return ticks / os.sysconf("SC_CLK_TCK")
