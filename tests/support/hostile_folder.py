"""A working folder full of names that programs look for where they run. Whatever runs there writes its path into a
file, the bait; settings that were read there show."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import matplotlib
import nbformat

from lab.base import shipped
from lab.local import root_image
from support.hostile_runs import HOSTS
from support.paths import ROOT

# Runs commands as `python -m lab` does, in one process: imports look into the current folder first. The package
# lab is imported before, because nothing helps if `-m` finds another one
AS_MODULE = """
import sys; del sys.path[0]
import json, os, runpy, lab
for words in json.loads(sys.argv[1]):
    sys.path.insert(0, os.getcwd())
    sys.argv = ["lab", *words]
    try:
        runpy.run_module("lab", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        print("\\0", ended.code or 0, "\\0", sep="", flush=True)
"""
PYTHON = "open({bait!r}, 'a').write(__file__ + '\\n')\n"
SHELL = '#!/bin/sh\necho "$0" >> {bait}\nexit 1\n'
CELL = "open({bait!r}, 'a').write('a cell\\n')"
# started by the lab, its programs, or its libraries
PROGRAMS = (
    "git", "ssh", "sh", "ip", "tc", "ethtool", "iperf3", "rsync", "cp", "dd", "fio", "perl", "python3", "python",
    "nsenter", "unshare", "mount", "umount", "xdg-open", "open", "www-browser", "x-www-browser", "fc-list", "latex",
    "kpsewhich", "showmount", "smbclient", "avahi-browse", "less", "more", "node", "npm", "npx", "jupyter", "ps",
    "uname", "id", "df", "true", "sudo", "modprobe", "ldconfig", "gcc", "cc", "pandoc", "system_profiler", "stty",
    "tput", "mmdebstrap",
)  # fmt: skip
MODULES = {
    "sitecustomize", "usercustomize", "conftest", "setup", "lab", "evil", "emulated_mac", "jupyter_config",
    "jupyter_server_config", "jupyter_notebook_config", "jupyter_nbconvert_config", "jupyter_lab_config",
    "ipython_config", "custom_logger", "ipython_kernel_config", "jupyter_nbclient_config", "ipykernel_config",
    ".pythonrc", "gi", "pylab",
}  # fmt: skip
TEMPLATES = (
    "basic", "base", "classic", "lab", "nbconvert/templates/basic", ".local/share/jupyter/nbconvert/templates/basic",
)  # fmt: skip
FILES = {
    "matplotlibrc": "text.usetex : True\nlines.linewidth : 40\nfont.size : 40\nno.such.key : 1\n",
    ".git/config": "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ./sh\n\tsshCommand = ./sh\n",
    ".git/HEAD": "ref: refs/heads/main\n",
    ".gitconfig": "[core]\n\tfsmonitor = ./sh\n",
    "ssh_config": "Host *\nProxyCommand ./sh\n", ".ssh/config": "Host *\nProxyCommand ./sh\n",
    "dask.yaml": "distributed: !!python/object/apply:os.system ['./sh']\n",
    ".config/dask/dask.yaml": "distributed: !!python/object/apply:os.system ['./sh']\n",
    ".duckdbrc": ".shell ./sh\n", ".env": "PYTHONSTARTUP=evil.py\nBROWSER=./sh\n", ".pdbrc": "import evil\n",
    "pyproject.toml": "[tool.lab]\nhosts = 'hosts.ini'\n[tool.pytest.ini_options]\naddopts = '-p evil'\n",
    "setup.cfg": "[tool:pytest]\naddopts = -p evil\n", "pip.conf": "[global]\nindex-url = evil\n",
    "keyringrc.cfg": "[backend]\ndefault-keyring=evil.Keyring\nkeyring-path=.\n", "evil.pth": "import evil\n",
    "pyvenv.cfg": "home = .\n", ".netrc": "default login x password y\n", ".npmrc": "prefix=.\n",
    "smb.conf": "[global]\ninclude = /dev/zero\n", "mpl-data/matplotlibrc": "font.size : 40\n",
    "stylelib/classic.mplstyle": "font.size : 40\n", "conf.json": '{"preprocessors": {"1": {"type": "evil.Evil"}}}',
}  # fmt: skip


def make_hostile(folder: Path, bait: Path) -> Path:
    folder.mkdir()
    (folder / "hosts.ini").write_text(HOSTS.format(bait=bait))
    for name in sorted(_importable() | MODULES):
        _put(folder / f"{name}.py", PYTHON.format(bait=str(bait)))
    for name in ("pandas", "lab", "numpy", "IPython", "profile_default/startup", ".ipython/profile_default/startup"):
        _put(folder / name / "__init__.py", PYTHON.format(bait=str(bait)))
    for name in PROGRAMS:
        _put(folder / name, SHELL.format(bait=bait), 0o755)
    for name, text in FILES.items():
        _put(folder / name, text)
    for name in shipped.sweeps():
        _put(folder / name, "no sweep")
    _make_for_jupyter(folder, bait)
    (folder / ".tmp").symlink_to(bait.parent)
    return folder


def _importable() -> set[str]:
    names = sys.stdlib_module_names | metadata.packages_distributions().keys()
    return {name for name in names if name.isidentifier() and name not in sys.builtin_module_names}


def _put(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def _make_for_jupyter(folder: Path, bait: Path) -> None:
    """Notebooks with the lab's names, templates of pages, and kernels."""
    cell = nbformat.v4.new_code_cell(CELL.format(bait=str(bait)))  # type: ignore[no-untyped-call]
    notebook = nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))  # type: ignore[no-untyped-call]
    for name in shipped.notebooks():
        _put(folder / f"{name}.ipynb", notebook)
        _put(folder / ".ipynb_checkpoints" / f"{name}-checkpoint.ipynb", notebook)
    for name in TEMPLATES:
        _put(folder / name / "conf.json", '{"mimetypes": {"text/html": true}}')
        for file in ("index.html.j2", "base.html.j2", "basic.html.j2"):
            _put(folder / name / file, "EVIL {% set x = resources.__init__.__globals__ %}")
    kernel = {"argv": [str(folder / "sh")], "display_name": "x", "language": "python"}
    for name in ("kernels/python3", ".local/share/jupyter/kernels/python3"):
        _put(folder / name / "kernel.json", json.dumps(kernel))


def environment(home: Path) -> dict[str, str]:
    """The environment of a new account whose PATH has the current folder."""
    chosen = {
        "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "PATH": f":{os.environ['PATH']}:.:",
        "PYTHONPATH": str(ROOT), "LAB_PASSWORD": "x", "MPLCONFIGDIR": matplotlib.get_cachedir(),
        "XDG_CACHE_HOME": str(root_image.cache_directory().parent),
    }  # fmt: skip
    return {name: value for name, value in os.environ.items() if not name.startswith("LAB_")} | chosen


def start(lines: Sequence[Sequence[str]], folder: Path, home: Path) -> subprocess.Popen[str]:
    """Start commands in a folder one after the other, each as ``python -m lab``."""
    return subprocess.Popen(
        [sys.executable, "-c", AS_MODULE, json.dumps(lines)], cwd=folder, env=environment(home), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def ended(process: subprocess.Popen[str], seconds: float) -> tuple[list[int], str]:
    """The exit codes of these commands, and all output."""
    out, err = process.communicate(timeout=seconds)
    parts = out.split("\0")
    return list(map(int, parts[1::2])), "".join(parts[::2]) + err
