"""What docs/format.md quotes."""

from benchmarks.quotes.quote import Quote, Stated, by_hand

__all__ = ["QUOTES"]

_LAYOUT = "part of the format"

QUOTES = (
    Stated("| 0 to 7 | *h* − 8", _LAYOUT),
    Stated("at most 64 MiB |", _LAYOUT),
    Stated("blocks of 1 MiB", _LAYOUT),
    Stated("| 0 | any other |", _LAYOUT),
    Stated("| 1 | string |", _LAYOUT),
    Stated("| 2 | whole number of 64 bits |", _LAYOUT),
    Stated("| 3 | bytes |", _LAYOUT),
    Stated("1 comes back as 1 and 1.0 as 1.0", "values of two types"),
    Stated("`nodes` (n, 64 bytes)", _LAYOUT),
    Stated("`codes` (lines of 64 bytes)", _LAYOUT),
    Stated("`leaves` (n, 28 bytes)", _LAYOUT),
    Stated("`slots` (n, 16 bytes)", _LAYOUT),
    Stated("`postings` (n, 8 bytes), `lines` (64 bytes)", _LAYOUT),
    Quote(
        "An array of {} MB takes {} s and {} MB of memory of its own",
        by_hand("safetensors", "mb"),
        by_hand("safetensors", "theirs_read_s"),
        by_hand("safetensors", "mb"),
    ),
    Quote("Mapping it as we do takes {} ms", by_hand("safetensors", "mapped_ms")),
    Quote("checksums included, takes us {} s", by_hand("safetensors", "read_s")),
    Stated("the header to 8 bytes and arrays", "the format of safetensors"),
    Quote(
        "Saving {} MB took {} s with checksums and flushed, theirs {} s without",
        by_hand("safetensors", "mb"),
        by_hand("safetensors", "saved_s"),
        by_hand("safetensors", "theirs_saved_s"),
    ),
)
