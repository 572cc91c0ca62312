"""``python -m lab`` is the same as the ``lab`` command."""

from lab.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
