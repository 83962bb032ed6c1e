"""The limits of one request, and of requests at once."""

from dataclasses import dataclass, field, fields

from fastmks._util.validation import check_count, check_number, default_threads

DEPTH = 32  # of arrays and objects within each other, in a request


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a service; requests beyond them are refused with a 4xx answer that says so.

    Attributes
    ----------
    body_bytes : int
        Bytes of one request.
    bodies_bytes : int
        Bytes of all requests that are being read or answered.
    k : int
        Hits of a query.
    queries : int
        Queries of a batch.
    objects : int
        Objects of one change.
    hits : int
        Hits in one answer, of all queries of a batch together.
    letters : int
        Letters of a string, or bytes.
    members : int
        Members of a set.
    nodes, edges : int
        Nodes and edges of a graph.
    steps : int
        Time steps of a series.
    seconds : float
        From the last byte of a request to its answer, waiting included.
    body_seconds : float
        For the body of a request to arrive.
    workers : int
        Requests that run at once; as many as usable CPUs when not given.
    waiting : int
        Requests that may wait for a worker, and changes that may wait to be written.
    connections : int
        Open connections; more are answered with 503.
    threads : int
        Threads of one search.
    journal_bytes : int
        Bytes of the journal above which the index is saved and a new journal begins.

    Examples
    --------
    >>> from fastmks.service import Limits
    >>> Limits(k=100, seconds=2.0).k
    100
    """

    body_bytes: int = 8 << 20
    bodies_bytes: int = 256 << 20
    k: int = 1000
    queries: int = 1000
    objects: int = 10_000
    hits: int = 100_000
    letters: int = 50_000
    members: int = 100_000
    nodes: int = 5000
    edges: int = 50_000
    steps: int = 20_000
    seconds: float = 30.0
    body_seconds: float = 10.0
    workers: int = field(default_factory=default_threads)
    waiting: int = 1024
    connections: int = 2048
    threads: int = 1
    journal_bytes: int = 64 << 20

    def __post_init__(self) -> None:
        for limit in fields(self):
            if limit.type is int:
                check_count(limit.name, getattr(self, limit.name))
            else:
                check_number(limit.name, getattr(self, limit.name), positive=True)
