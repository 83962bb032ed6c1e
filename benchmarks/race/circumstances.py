"""Where, when and with what kept cells were measured, in words."""

from benchmarks.kept import Kept
from benchmarks.race.cell import Cell

__all__ = ["circumstances_of"]


def circumstances_of(kept: Kept[Cell]) -> str:
    """Return machine, versions, commits, how busy the machine was, and all notes."""
    facts = kept.circumstances
    machine, versions = facts["machine"], facts["versions"]
    commits = sorted({cell.commit for cell in kept.cells})
    busiest = max((cell.others or 0.0 for cell in kept.cells), default=0.0)
    installed = [f"{name} {number}" for name, number in versions.items() if number[0].isdigit()]
    where = f"{machine['cores']} cores of {machine['cpu']} ({machine['fastmks_isa']})"
    what = f"{machine['os']}, Python {machine['python']}, {', '.join(installed)}"
    when = f"{facts['date']}, commit {', '.join(commits)}"
    cells = f"{len(kept.cells)} cells; others took up to {busiest:.0%} of the machine meanwhile."
    notes = [f"Note: {note}." for note in facts["notes"]]
    return "\n".join([f"{where}, {what}; {when}.", cells, *notes])
