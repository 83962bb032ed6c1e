"""What docs/sparse.md quotes, its generated block apart."""

from benchmarks.quotes.quote import Quote, Stated, by_hand

__all__ = ["QUOTES"]

_WORK = "work of a sparse query"
_THREADS = "sparse searches on two threads"

QUOTES = (
    Stated("scores of a shelf (32 KiB) stay", "16 blocks of 512 objects in float32"),
    Stated("512 objects to a line of 64 bytes", "the layout of planes"),
    Stated("Memory: 8 bytes for a posting and 64 for a line", "the layout"),
    Quote(
        "Word counts took {} times, protein counts {} times what",
        by_hand("memory of inverted lists", "words"),
        by_hand("memory of inverted lists", "proteins"),
    ),
    Stated("Building reads every row three times", "what the code does"),
    Quote(
        "in one thread: {} s for {} million entries, {} s for {} million",
        by_hand("building inverted lists", "seconds"),
        by_hand("building inverted lists", "million_entries"),
        by_hand("building inverted lists", "more_seconds"),
        by_hand("building inverted lists", "more_million_entries"),
    ),
    Quote(
        "20 newsgroups ({} texts, {} words a query) needs {} lines and {} postings under the "
        "cosine, where plain lists would have {} postings",
        by_hand(_WORK, "newsgroups_texts"),
        by_hand(_WORK, "newsgroups_words"),
        by_hand(_WORK, "newsgroups_lines"),
        by_hand(_WORK, "newsgroups_postings"),
        by_hand(_WORK, "newsgroups_plain"),
    ),
    Quote(
        "proteins ({}; {} substrings a query) needs {} of both together instead of {} million",
        by_hand(_WORK, "proteins_objects"),
        by_hand(_WORK, "proteins_substrings"),
        by_hand(_WORK, "proteins_both"),
        by_hand(_WORK, "proteins_plain_millions"),
    ),
    Quote(
        "A line took {} ns from the first cache, about {} ns from the second, {} to {} ns from",
        by_hand("a line of planes", "first_ns"),
        by_hand("a line of planes", "second_ns"),
        by_hand("a line of planes", "memory_least_ns"),
        by_hand("a line of planes", "memory_greatest_ns"),
    ),
    Quote("pays some {} µs more", by_hand("reading a sparse query", "us")),
    Quote(
        "{} µs a query instead of {}), and gained less in batches of 100 ({} instead of {})",
        by_hand(_THREADS, "batch_1000_two_us"),
        by_hand(_THREADS, "batch_1000_one_us"),
        by_hand(_THREADS, "batch_100_two_us"),
        by_hand(_THREADS, "batch_100_one_us"),
    ),
    Quote(
        "the factor of the cosine in batches of 1000 was {} instead of {}",
        by_hand(_THREADS, "cosine_passive_times"),
        by_hand(_THREADS, "cosine_times"),
    ),
    Stated("*Large pages* (2 MiB)", "the size of a page"),
    Quote(
        "{} % faster for proteins and {} % slower for texts",
        by_hand("more planes", "proteins_faster_percent"),
        by_hand("more planes", "texts_slower_percent"),
    ),
)
