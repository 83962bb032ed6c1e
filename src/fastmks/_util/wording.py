"""Numbers of things in words."""


def counted(n: int, thing: str) -> str:
    """Return n of a thing: in the singular where it is one.

    Examples
    --------
    >>> counted(1, "query"), counted(2, "query"), counted(0, "hit")
    ('1 query', '2 queries', '0 hits')
    """
    if n == 1:
        return f"1 {thing}"
    return f"{n} {thing[:-1]}ies" if thing.endswith("y") else f"{n} {thing}s"
