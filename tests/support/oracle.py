"""What the answers must be, in plain Python that shares no code with fastmks.

`canonical` follows docs/how-it-works/rounding.md operation by operation, so it agrees with fastmks
to the last bit; `exact` follows the textbook formula with 60 digits.
"""

import math
from fractions import Fraction

import mpmath

from fastmks import kernels as K

mpmath.mp.dps = 60

LN2_HIGH = float.fromhex("0x1.62e42fefa3800p-1")
LN2_LOW = float.fromhex("0x1.ef35793c76730p-45")


def lane_sum(terms):
    """Add up in eight interleaved partial sums."""
    s = [0.0] * 8
    for column, term in enumerate(terms):
        s[column % 8] += term
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))


def dot(x, y):
    return lane_sum(a * b for a, b in zip(x, y, strict=True))


def squared_distance(x, y, bandwidth):
    """Return |x - y|^2 and the bandwidth, both moved near 1 where the bandwidth is extreme."""
    exponent = math.frexp(bandwidth)[1] - 1
    shift = min(-exponent, 1023) if abs(exponent) > 200 else 0
    before, after = math.ldexp(1.0, min(shift, 0)), math.ldexp(1.0, max(shift, 0))
    terms = (_square((a * before - b * before) * after) for a, b in zip(x, y, strict=True))
    return lane_sum(terms), math.ldexp(bandwidth, shift)


def _square(a):
    return a * a


def reduced_exp(x):
    """Return k and p with exp(x) = 2^k (1 + p)."""
    k = round(x * float.fromhex("0x1.71547652b82fep+0"))
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    s = 0.0
    for n in range(13, 1, -1):
        s = s * r + 1.0 / math.factorial(n)
    return k, r + (r * r) * s


def exp(x):
    k, p = reduced_exp(min(max(x, -746.0), 710.0))
    try:
        return math.ldexp(1.0 + p, k)
    except OverflowError:
        return math.inf


def tanh(x):
    k, p = reduced_exp(2.0 * min(abs(x), 20.0))
    e = math.ldexp(p, k) + (math.ldexp(1.0, k) - 1.0)
    return math.copysign(e / (e + 2.0), x)


def power(base, degree):
    result = 1.0
    while degree:
        if degree & 1:
            result *= base
        base *= base
        degree >>= 1
    return result


def normalized(value, a, b, limit=1.0):
    """Return value / sqrt(a b) through mantissas in [1, 4)."""
    if a == 0.0 or b == 0.0:
        return 0.0
    e_a, e_b = (math.frexp(a)[1] - 1) >> 1, (math.frexp(b)[1] - 1) >> 1
    scaled = (value * 2.0 ** max(-e_a, -e_b)) * 2.0 ** min(-e_a, -e_b)
    result = scaled / math.sqrt(math.ldexp(a, -2 * e_a) * math.ldexp(b, -2 * e_b))
    return min(max(result, -limit), limit) + 0.0


def _moved(x):
    """Return x, moved near 1 by a power of two where its squares would leave the float64 range."""
    if 2.0**-800 < dot(x, x) < 2.0**800:
        return x
    largest = max(map(abs, x))
    exponent = math.frexp(largest)[1] - 1 if largest else 0
    return x if abs(exponent) <= 400 else [math.ldexp(a, -exponent) for a in x]


def canonical(kernel, x, y):
    """Return K(x, y) as docs/how-it-works/rounding.md defines it, to the last bit."""
    match kernel:
        case K.Linear():
            return dot(x, y)
        case K.Polynomial():
            return power(dot(x, y) * kernel.scale + kernel.offset, kernel.degree)
        case K.Tanh():
            return tanh(dot(x, y) * kernel.scale + kernel.offset)
        case K.Exponential():
            return exp(dot(x, y) * kernel.scale)
        case K.Cosine():
            x, y = _moved(x), _moved(y)
            return normalized(dot(x, y), dot(x, x), dot(y, y))
        case K.Sum():
            total = canonical(kernel.terms[0], x, y)
            for term in kernel.terms[1:]:
                total += canonical(term, x, y)
            return total
        case K.Product():
            total = canonical(kernel.factors[0], x, y)
            for factor in kernel.factors[1:]:
                total *= canonical(factor, x, y)
            return total
        case K.Scaled():
            return canonical(kernel.kernel, x, y) * kernel.factor
        case K.Normalized():
            limit = 1.0 if kernel.mercer_columns >= len(x) else math.inf
            values = (canonical(kernel.kernel, *pair) for pair in ((x, y), (x, x), (y, y)))
            return normalized(*values, limit=limit)
    d2, w = squared_distance(x, y, kernel.bandwidth)
    match kernel:
        case K.Gaussian():
            return exp(d2 * (-0.5 / (w * w)))
        case K.Laplacian():
            return exp(math.sqrt(d2) * (-1.0 / w))
        case K.Epanechnikov():
            return max(0.0, d2 * (-1.0 / (w * w)) + 1.0)
        case K.Triangular():
            return max(0.0, math.sqrt(d2) * (-1.0 / w) + 1.0)
        case K.Spherical():
            h = min(1.0, math.sqrt(d2) / w)
            return ((1.0 - h) * (1.0 - h)) * (1.0 + 0.5 * h)
    raise AssertionError(f"the oracle does not know {kernel!r}")


def exact(kernel, x, y):
    """Return K(x, y) from its formula, with 60 digits."""
    s = mpmath.mpf(0)
    for a, b in zip(x, y, strict=True):
        s += mpmath.mpf(a) * mpmath.mpf(b)
    match kernel:
        case K.Linear():
            return s
        case K.Polynomial():
            return (mpmath.mpf(kernel.scale) * s + mpmath.mpf(kernel.offset)) ** kernel.degree
        case K.Tanh():
            return mpmath.tanh(mpmath.mpf(kernel.scale) * s + mpmath.mpf(kernel.offset))
        case K.Exponential():
            return mpmath.exp(mpmath.mpf(kernel.scale) * s)
        case K.Cosine():
            return exact(K.Normalized(K.Linear()), x, y)
        case K.Sum():
            return sum((exact(term, x, y) for term in kernel.terms), mpmath.mpf(0))
        case K.Product():
            return mpmath.fprod(exact(factor, x, y) for factor in kernel.factors)
        case K.Scaled():
            return mpmath.mpf(kernel.factor) * exact(kernel.kernel, x, y)
        case K.Normalized():
            norms = exact(kernel.kernel, x, x) * exact(kernel.kernel, y, y)
            return exact(kernel.kernel, x, y) / mpmath.sqrt(norms) if norms else mpmath.mpf(0)
    d2 = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True))
    h = mpmath.sqrt(mpmath.mpf(d2.numerator) / d2.denominator) / mpmath.mpf(kernel.bandwidth)
    match kernel:
        case K.Gaussian():
            return mpmath.exp(-h * h / 2)
        case K.Laplacian():
            return mpmath.exp(-h)
        case K.Epanechnikov():
            return max(mpmath.mpf(0), 1 - h * h)
        case K.Triangular():
            return max(mpmath.mpf(0), 1 - h)
        case K.Spherical():
            return 1 - 1.5 * h + 0.5 * h**3 if h < 1 else mpmath.mpf(0)
    raise AssertionError(f"the oracle does not know {kernel!r}")


def ranked(kernel, query, objects, *, among=None, skip=None):
    """Return (value, position) of all objects searched, best first."""
    positions = range(len(objects)) if among is None else among
    pairs = [(canonical(kernel, query, objects[i]), i) for i in positions if i != skip]
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))


def assert_identical(hits, rows):
    """Compare Hits with rows of (value, position), bit for bit."""
    values = [[value for value, _ in row] for row in rows]
    indices = [[position for _, position in row] for row in rows]
    assert hits.indices.tolist() == indices
    assert [[v.hex() for v in row] for row in hits.values.tolist()] == [
        [float(v).hex() for v in row] for row in values
    ]
