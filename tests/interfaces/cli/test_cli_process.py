"""The program as a process: pipes, terminals, signals, memory, start-up, completion."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path

import numpy as np
import pytest

from fastmks import Index
from support.counting import count_calls
from support.programs import heed_interrupts, run_program, run_python
from support.waiting import PATIENCE, wait_until

RNG = np.random.default_rng(11)
X = RNG.normal(size=(500, 4))
PROGRAM = [sys.executable, "-W", "error", "-m", "fastmks"]


@pytest.fixture
def folder(tmp_path):
    Index(X).save(tmp_path / "x.fmks")
    np.save(tmp_path / "q.npy", X[:30])
    return tmp_path


def call(folder, *words, **options):
    return run_program([*PROGRAM, *words], cwd=folder, **options)


def test_exit_codes_and_one_line_errors(folder):
    done = call(folder, "search", "x.fmks", "q.npy", "-k", "2", "-o", "h.csv")
    assert (done.returncode, done.stdout) == (0, "")
    for words, code in ((["search", "x.fmks", "no.npy"], 1), (["search"], 2)):
        done = call(folder, *words)
        assert done.returncode == code
        assert done.stdout == ""
        assert done.stderr.startswith("fastmks: error: ")
        assert done.stderr.count("\n") == 1


def test_no_bar_where_nobody_looks(folder):
    done = call(folder, "search", "x.fmks", "q.npy", "-o", "h.csv")
    assert done.stderr.count("\n") == 2
    assert "\r" not in done.stderr


def test_a_reader_that_goes_away_is_no_news(folder):
    np.save(folder / "many.npy", np.repeat(X, 40, axis=0))
    process = subprocess.Popen(
        [*PROGRAM, "search", "x.fmks", "many.npy", "-k", "20", "--chunk", "500"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"query,rank,id,value\n"
    process.stdout.close()
    assert process.stderr.read().splitlines() == [
        b"many.npy: vectors of 4 columns, read as npy, no ids"
    ]
    process.stderr.close()
    assert process.wait(timeout=PATIENCE) == 141


@pytest.mark.parametrize(
    "words", ["--help", "info x.fmks", "explain x.fmks q.npy", "bench q.npy --engines scan"]
)
def test_nobody_reads_at_all(folder, words):
    reader, writer = os.pipe()
    os.close(reader)
    into = {"capture_output": False, "stdout": writer, "stderr": subprocess.PIPE}
    done = call(folder, *words.split(), **into)
    os.close(writer)
    assert done.returncode == 141
    assert "rror" not in done.stderr


def on_a_terminal(folder, *words):
    """Return what a program prints to a terminal of its own, and its exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(TERM="xterm", COLUMNS="100")
        os.execv(PROGRAM[0], [*PROGRAM, *words])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    seen = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            piece = b""
        if not piece:
            break
        seen += piece
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return seen.decode(), os.waitstatus_to_exitcode(status)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_table_on_a_terminal(folder):
    seen, code = on_a_terminal(folder, "search", "x.fmks", "q.npy", "-k", "3")
    assert code == 0
    assert "query" in seen
    assert "rank" in seen
    assert "query,rank" not in seen
    hits = Index(X).search(X[:10], 3)
    assert f"{hits.values[9, 2]:.7g}" in seen
    assert "-o hits.csv writes all" in seen


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_bar_on_a_terminal(folder):
    seen, code = on_a_terminal(folder, "search", "x.fmks", "q.npy", "-k", "3", "-o", "h.csv")
    assert code == 0
    assert "30.0/30.0" in seen


def drip(path, stop, written):
    """Write queries to a pipe until told to stop."""
    block = "".join(",".join(map(repr, row)) + "\n" for row in X.tolist()).encode()
    with Path(path).open("wb", buffering=0) as file:
        while not stop.is_set():
            try:
                written[0] += file.write(block)
            except BrokenPipeError:
                return


def start_dripping(folder, *words, **options):
    os.mkfifo(folder / "pipe.csv")
    stop, written = threading.Event(), [0]
    writer = threading.Thread(target=drip, args=(folder / "pipe.csv", stop, written), daemon=True)
    process = subprocess.Popen(
        [*PROGRAM, "search", "x.fmks", "pipe.csv", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,
        **options,
    )
    writer.start()
    return process, writer, stop, written


def wait_for_a_file(folder):
    wait_until(lambda: any(file.stat().st_size > 0 for file in folder.glob(".fastmks-*.tmp")))


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
@pytest.mark.parametrize("is_there", [True, False])
def test_stopped_while_writing_there_is_no_half_file(folder, number, code, is_there):
    if is_there:
        (folder / "h.csv").write_text("old")
    process, writer, stop, _ = start_dripping(folder, "-k", "2", "--chunk", "100", "-o", "h.csv")
    wait_for_a_file(folder)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    stop.set()
    writer.join(timeout=PATIENCE)
    assert process.returncode == code
    assert b"Traceback" not in err
    assert (folder / "h.csv").exists() == is_there
    assert not is_there or (folder / "h.csv").read_text() == "old"
    left = list(folder.glob(".fastmks-*.tmp"))
    if number != signal.SIGKILL:
        assert left == []
    else:  # the next one that writes removes what was left
        assert len(left) == 1
        assert call(folder, "search", "x.fmks", "q.npy", "-o", "h.csv").returncode == 0
        assert list(folder.glob(".fastmks-*.tmp")) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("lost", ["", "raise ImportError('as compiled code does')"])
def test_a_signal_whose_exception_is_lost_ends_the_program(number, code, lost):
    program = f"""
import os, time
from fastmks.cli.signals import end_by_signals

class Loses:
    def __del__(self):
        try:
            os.kill(os.getpid(), {int(number)})
            time.sleep(1e-3)
        except BaseException:
            {lost or "raise"}

with end_by_signals():
    Loses()
    print("lost", flush=True)
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        raise SystemExit(1)
"""
    done = run_python(program, preexec_fn=heed_interrupts)
    assert (done.stdout, done.stderr, done.returncode) == ("lost\n", "", code)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 143)])
def test_a_signal_whose_exception_becomes_another_ends_the_program(number, code):
    program = f"""
import os
from fastmks.cli.signals import end_by_signals

try:
    with end_by_signals():
        try:
            os.kill(os.getpid(), {int(number)})
        except BaseException:
            raise ImportError("as compiled code does")
except KeyboardInterrupt:
    raise SystemExit(1)
"""
    done = run_python(program, preexec_fn=heed_interrupts)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", code)


@pytest.mark.parametrize("module", ["fastmks.cli.runner", "typer", "fastmks.cli.build"])
def test_an_interrupt_while_modules_are_imported_is_no_news(module):
    program = f"""
import os, signal, sys

class Interrupts:
    def find_spec(self, name, *_):
        if name == "{module}":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
sys.argv = ["fastmks", "--help"]
from fastmks.cli import main
main()
"""
    done = run_python(program, preexec_fn=heed_interrupts)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


INTERRUPTS = """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, *_):
        if name == os.environ["AT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
"""


def interrupted(folder, command, module):
    """Run a program that is interrupted where it imports a module."""
    (folder / "sitecustomize.py").write_text(INTERRUPTS)
    environment = {**os.environ, "PYTHONPATH": str(folder), "AT": module}
    return run_program(command, cwd=folder, env=environment, preexec_fn=heed_interrupts)


@pytest.mark.parametrize(
    "program",
    [
        [str(Path(sys.executable).with_name("fastmks"))],
        PROGRAM,
        [sys.executable, "-Wignore", "-mfastmks"],
    ],
    ids=["script", "module", "joined"],
)
@pytest.mark.parametrize(
    "module",
    [
        *("numpy", "fastmks._core", "fastmks.index.load", "fastmks.cli", "fastmks.cli.signals"),
        *("typer", "fastmks.cli.app", "fastmks.cli.object_files"),
    ],
)
def test_an_interrupt_at_any_import_of_the_program_is_no_news(folder, program, module):
    done = interrupted(folder, [*program, "info", "x.fmks"], module)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(
    "words", [["-c", "import fastmks"], ["-m", "user", "fastmks"], ["user.py"]]
)
def test_an_interrupt_of_other_programs_raises_an_exception(folder, words):
    (folder / "user.py").write_text("import fastmks")
    done = interrupted(folder, [sys.executable, *words], "fastmks.index.load")
    assert done.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in done.stderr


def test_memory_does_not_grow_with_the_number_of_queries(folder):
    process, writer, stop, written = start_dripping(
        folder, "-k", "1", "--threads", "1", "--chunk", "1000", "-o", "h.csv"
    )
    peaks = []
    for n_bytes in (8 * 2**20, 24 * 2**20):
        goal = written[0] + n_bytes
        wait_until(lambda goal=goal: written[0] >= goal or process.poll() is not None)
        status = Path(f"/proc/{process.pid}/status").read_text()
        peaks.append(int(status.split("VmHWM:")[1].split()[0]))
    stop.set()
    _, err = process.communicate(timeout=PATIENCE)
    writer.join(timeout=PATIENCE)
    assert process.returncode == 0, err
    n_queries = (folder / "h.csv").read_text().count("\n") - 1
    assert n_queries % len(X) == 0
    assert n_queries > 300_000
    assert peaks[1] < peaks[0] + 8 * 1024  # kB


def test_streamed_answers_are_those_of_one_search(folder):
    process, writer, stop, _ = start_dripping(folder, "-k", "3", "--chunk", "333")
    first = process.stdout.readline()
    stop.set()
    rest = process.stdout.read()
    process.communicate(timeout=PATIENCE)
    writer.join(timeout=PATIENCE)
    assert first == b"query,rank,id,value\n"
    hits = Index(X).search(X, 3)
    lines = rest.decode().splitlines()
    assert len(lines) % (3 * len(X)) == 0
    for at, line in enumerate(lines):
        query, rank, name, value = line.split(",")
        i, j = (at // 3) % len(X), at % 3
        assert (int(query), int(rank)) == (at // 3, j + 1)
        assert (int(name), float(value)) == (hits.ids[i, j], hits.values[i, j])


def test_help_does_little_more_than_import():
    help_ = "from fastmks.cli import run; run(['--help'])"
    assert count_calls(help_, before="import fastmks") < 60_000


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from fastmks.cli import run; run(['search', '--help']); "
        "print({m.split('.')[0] for m in sys.modules} & {'scipy', 'sklearn', 'pyarrow', 'pandas', "
        "'rdkit', 'tqdm', 'matplotlib', 'dask'}, 'rich.console' in sys.modules)"
    )
    assert run_python(code).stdout.splitlines()[-1] == "set() False"


def test_completion_knows_commands_and_kernels():
    environment = {
        **os.environ,
        "_FASTMKS_COMPLETE": "complete_bash",
        "COMP_WORDS": "fastmks build x --kernel norm",
        "COMP_CWORD": "4",
    }
    assert "normalized:" in run_program(PROGRAM, env=environment).stdout
    environment |= {"COMP_WORDS": "fastmks se", "COMP_CWORD": "1"}
    assert run_program(PROGRAM, env=environment).stdout.split() == ["search", "serve"]
