"""``python -m fastmks`` is the program `fastmks`."""

from fastmks.cli import main

if __name__ == "__main__":
    main()
