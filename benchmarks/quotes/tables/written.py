"""How tables write numbers, shares and kernels."""

import re

__all__ = ["apart", "brief", "kernel", "rate", "share"]

_DEFAULTS = (
    r", substitution='BLOSUM62', gap_open=11\.0, gap_extend=1\.0",
    r"substitution='BLOSUM62'(, gap_open=11\.0, gap_extend=1\.0)?",
    r", triangular=None",
    r", offset=0\.0, scale=1\.0",
    r"kernel=",
)


def brief(value: float) -> str:
    """Return two significant digits below ten, whole numbers above, three digits of thousands."""
    if value >= 1000:
        return rate(value)
    if value >= 9.95:
        return f"{value:.0f}"
    return f"{value:#.2g}"


def rate(value: float) -> str:
    """Return three significant digits of a whole number, or what there are of a small one."""
    return apart(float(f"{value:.3g}"))


def apart(value: float) -> str:
    """Return a whole number, its thousands apart from five digits on."""
    text = f"{value:.0f}"
    return text if len(text) < 5 else f"{int(text):,}".replace(",", " ")


def share(value: float, decimals: int = 0) -> str:
    """Return a share in per cent."""
    return f"{100 * value:.{decimals}f} %"


def kernel(text: str) -> str:
    """Return the stored form of a kernel as code, without what is so by default."""
    for pattern in _DEFAULTS:
        text = re.sub(pattern, "", text)
    return f"`{text}`"
