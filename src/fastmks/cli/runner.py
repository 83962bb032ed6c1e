"""Run a command: errors in one line, and exit codes."""

import sys
import traceback
from collections.abc import Sequence

from fastmks.cli.app import app
from fastmks.cli.messages import DEBUG, note, one_line, printable_lines

_INTERRUPTED = 130
_UNREAD = 141  # the exit code of a program that SIGPIPE ended


def run_app(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; an error is one line on standard error."""
    given = list(arguments)
    end = given.index("--") if "--" in given else len(given)
    shows_trace = DEBUG in given[:end]
    kept = [word for word in given[:end] if word != DEBUG] + given[end:]
    try:
        code = app(args=kept or ["--help"], prog_name="fastmks", standalone_mode=False)
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # which typer and rich turn into 1
            return _UNREAD
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # as some versions of typer turn it into
            return _INTERRUPTED
        if shows_trace:
            sys.stderr.write(printable_lines(traceback.format_exc()))
        note(f"fastmks: error: {one_line(error)}")
        return int(getattr(error, "exit_code", 1))
    return code if isinstance(code, int) else 0
