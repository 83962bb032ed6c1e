"""Python functions and the process: Ctrl-C, fork, and the end of the interpreter."""

from support.programs import run_python


def test_ctrl_c_stops_a_python_function_and_leaves_the_index_usable():
    result = run_python(
        """
        import signal
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import fastmks
        calls = []
        def pressing(x, y):
            calls.append(x)
            if len(calls) == 100:
                signal.raise_signal(signal.SIGINT)
            return float(x * y)
        index = fastmks.Index(list(range(100_000)), pressing)
        try:
            index.search([1, 2, 3])
        except KeyboardInterrupt:
            print("stopped")
        assert len(calls) == 100
        assert index.search([1], only=range(9)).indices[0, 0] == 8
        print("usable")
        """
    )
    assert result.stdout.split() == ["stopped", "usable"], result.stderr


def test_the_interpreter_may_end_while_a_thread_searches():
    result = run_python(
        """
        import threading, time
        import fastmks
        index = fastmks.Index(list(range(10_000)), lambda x, y: float(x * y))
        def forever():
            while True:
                index.search([1, 2, 3], 2)
        threading.Thread(target=forever, daemon=True).start()
        time.sleep(0.3)
        print("ending")
        """
    )
    assert result.stdout.split() == ["ending"]
    assert result.returncode == 0, result.stderr


def test_an_index_works_in_a_forked_child():
    result = run_python(
        """
        import os
        import fastmks
        index = fastmks.Index(["a", "ab"], lambda x, y: float(len(set(x) & set(y))))
        index.search(["ab"], algorithm="tree")
        child = os.fork()
        if child == 0:
            found = index.search(["ab"], algorithm="tree").indices[0, 0]
            os._exit(0 if found == 1 else 1)
        print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert result.stdout.split() == ["child", "0"], result.stderr
