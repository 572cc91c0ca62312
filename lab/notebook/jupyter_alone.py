"""Jupyter whose kernels start in an empty folder; `lab notebook` becomes this program.

    python -P jupyter_alone.py NOTEBOOK

Jupyter uses no module, setting, template or checkpoint beside the notebook; a checkpoint could be a link to a file
elsewhere. This program imports nothing of the lab.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def empty_folder() -> Iterator[Path]:
    """A new private folder. If cells wrote files into it, it stays and is named at the end."""
    folder = Path(tempfile.mkdtemp(prefix="lab-notebook-"))
    try:
        yield folder
    finally:
        try:
            folder.rmdir()
        except OSError:
            print(f"{folder}: holds what cells wrote there", file=sys.stderr)


def main(notebook: str) -> None:
    """Become Jupyter until it ends."""
    from notebook.app import main as jupyter

    with empty_folder() as folder, tempfile.TemporaryDirectory(prefix="lab-checkpoints-") as checkpoints:
        os.chdir(folder)
        sys.argv = [
            "jupyter-notebook", notebook,
            f"--MappingKernelManager.root_dir={folder}", f"--FileCheckpoints.checkpoint_dir={checkpoints}",
        ]  # fmt: skip
        jupyter()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
