"""Functions of the user that take long, for worker processes; they are importable."""

import os
import threading
import time

import numpy as np

SECONDS = 2e-4  # of a value: enough for worker processes


def slow_overlap(x, y):
    """The number of letters that both have."""
    time.sleep(SECONDS)
    return len(set(x) & set(y))  # an int: read as in this process


def slow_products(x, ys):
    """Products of a row with several, and whether they are read-only rows of float64."""
    assert isinstance(ys, np.ndarray)
    assert not ys.flags.writeable
    assert x.dtype == ys.dtype == float
    time.sleep(SECONDS * len(ys))
    return (ys * x).sum(axis=1)


def very_slow(x, y):
    """So slow that a scan asks for as few values at once as it may."""
    time.sleep(0.03)
    return 1.0


class Noting:
    """A function that writes the process of each call to a file."""

    def __init__(self, path):
        self.path = path

    def __call__(self, x, y):
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
        return slow_overlap(x, y)

    def processes(self):
        """The processes of the calls so far, each once."""
        return set(map(int, self.path.read_text(encoding="utf-8").split()))


class Odd(Exception):  # noqa: N818
    """An error that no pickle brings back."""

    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


def faulty(x, y):
    """Slow, and wrong for the letters of the pair."""
    slow_overlap(x, y)
    match y:
        case "raise":
            raise LookupError(f"no value for {y}")
        case "odd":
            raise Odd(1, 2)
        case "text":
            return "many"
        case "nan":
            return float("nan")
        case "end":
            os._exit(3)
    return 1.0


class Counted:
    """An object that counts how often it is pickled."""

    n_pickled = 0

    def __init__(self, text):
        self.text = text

    def __reduce__(self):
        Counted.n_pickled += 1
        return Counted, (self.text,)


def slow_texts(x, y):
    """The overlap of two counted objects."""
    return slow_overlap(x.text, y.text)


class Locked:
    """An object that no pickle holds."""

    def __init__(self):
        self.lock = threading.Lock()


def slow_one(x, y):
    """The value of any two objects."""
    time.sleep(SECONDS)
    return 1.0
