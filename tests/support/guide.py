"""The commands of guides: a person types those of two pages; others are only listed."""

import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lab.hosts.sections import MARK
from lab.local import lifecycle
from support.local_lab import Bench
from support.paths import ROOT
from support.terminal import Answers, Terminal, terminal

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:sudo )?(?:\.venv/bin/)?lab ([a-z].*)")


def shell_lines(path: Path) -> Iterator[str]:
    """The lines of a script, or of a page's blocks for the shell."""
    text = path.read_text(encoding="utf-8")
    blocks = [text] if path.suffix == ".sh" else [block for language, block in FENCE.findall(text) if language == "sh"]
    for block in blocks:
        yield from block.splitlines()


def commands(path: Path) -> Iterator[list[str]]:
    """The words after ``lab`` in each line that begins with it, up to a redirection."""
    for line in shell_lines(path):
        if match := COMMAND.match(line):
            words = shlex.split(match[1], comments=True)
            yield words[: words.index(">")] if ">" in words else words


PAGE = ROOT / "docs/how-to/measure-two-machines.md"
OLD_PAGE = ROOT / "docs/how-to/reach-old-macs.md"
PIECE = re.compile(r"^```([^\n]*)\n(.*?)^```$|`([^`]+)`", re.MULTILINE | re.DOTALL)
PLACES = {
    "on the controller": ("controller",), "on the client": ("client",), "on the server": ("server",),
    "on each host": ("client", "server"), "on each mac": ("client", "server"), "on the old mac": ("old",),
    "on this mac": ("client",), "on the other mac": ("server",),
}  # fmt: skip
WHERE = re.compile(rf"\b({'|'.join(PLACES)}):\n\n\Z".replace(" ", r"\s"), re.IGNORECASE)
CONTROLLER = "controller"

# Replacements for an emulated Mac, which has only Ethernet
STANDS_FOR = {'"Thunderbolt Bridge"': '"Ethernet"', "bridge0": "en0", " two-macs": " ./two-macs.toml"}
FIRST_STEP = "## 1. "  # above it are the ten lines for two Macs
# Commands in the text, and where they are typed; shell blocks say that themselves
TYPED = {"dns-sd -B _ssh._tcp": "client", "lab restore --hosts hosts.ini": CONTROLLER}
NOT_TYPED = {
    "git clone <this repository> && cd file-share-lab": "loads from the network: the test makes such a folder",
    "scripts/setup.sh check": "loads from the network: it has made the .venv that runs this test",
    "brew install pipx && pipx install . && PATH=$PATH:~/.local/bin": "no Homebrew: the test brings the lab",
    "ssh localhost": "makes the keys of a Mac that has none, and an emulated Mac has some",
    "ls /usr/bin/iperf3-darwin": "emulated Macs have Homebrew's",
    "iperf3 -s": "the emulated firewall keeps nothing out",
    "brew install iperf3": "Homebrew is not emulated; emulated Macs have its iperf3",
    "sudo port install iperf3": "MacPorts is not emulated",
    "systemctl stop smbd nfs-ganesha netatalk": "for Debian: the local lab's hosts have no systemd",
    "status: active": "what ifconfig prints: PRINTS has it",
    "DHCP Configuration": "what networksetup prints: PRINTS has it",
    "showmount -e": "for a share that the server has already, which these have not: tests/support/macs.py types it",
    "lab run --resume": "needs a run that was interrupted: test_recovery.py",
}
MENTIONED = ("lab init", "lab check")  # commands of blocks, in the text
# What a command must print; a terminal breaks lines between words
PRINTS = {
    "dns-sd -B _ssh._tcp": r"(?s)\A(?=.*Add +[23] +4 local\. +_ssh\._tcp\. +client\n)(?=.* server\n)",
    "networksetup -listnetworkserviceorder": r"\(1\) Ethernet\n\(Hardware Port: Ethernet, Device: en0\)",
    "ifconfig bridge0": "status: active",
    'networksetup -getinfo "Thunderbolt Bridge"': r"^DHCP Configuration\nIP address: 10\.99\.0",
    "route -n get 192.168.77.2": "interface: en0\n",
    "ipconfig getifaddr bridge0": r"^192\.168\.77\.1\n",
    "lab init": r"(?s)\A(?!.*^problem).*ready",
    "lab plan two-macs": "cases",
    "lab show": "^Fastest  ",
    "lab restore": r"nothing\s+is\s+left\s+to\s+put\s+back",
    ".venv/bin/lab check": r"(?s)\A(?!.*^problem).*192\.168\.77\.1\s+on\s+en0,\s+which\s+leads\s+to\s+the",
    ".venv/bin/lab plan sweeps/macs.toml": "cases",
    ".venv/bin/lab show": "^Fastest  ",
    ".venv/bin/lab report": r"report\.html",
    ".venv/bin/lab restore": r"nothing\s+is\s+left\s+to\s+put\s+back",
    "lab restore --hosts hosts.ini": r"nothing\s+is\s+left\s+to\s+put\s+back",
}
# Commands that run until Ctrl-C, and their exit codes then
ENDLESS = {"dns-sd -B _ssh._tcp": 130}
# Changes that shorten the sweep
SOONER = {"blocks = [46]": "blocks = 1", "seconds = 3 ": 'size = "1 MiB" ', r'\["write", "read"\]': '["write"]'}

FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]+|(?:[0-9a-f]{2}:){15}[0-9a-f]{2}")
LOGGED_IN = re.compile(r"zsh-[0-9.]+\$ \Z")
LAB = """#!/bin/sh
exec {python} -m lab "$@"
"""
SSH_CONFIG = """
Host {host}.local
    ProxyCommand {python} -m lab.local.proxy_command {name} {inside}
"""
# A new home, which ssh reads from /etc/passwd alone. As zsh on a Mac, the shell takes # as a word
AT_HOME = 'mount --bind "$1" /etc/passwd && exec bash --noediting --norc +O interactive_comments -i'
PRIVATE = ("unshare", "--mount", "--propagation", "private", "sh", "-c", AT_HOME, "sh")
# The account of the Mac's owner
ZSH = """
cd /Users/you
export HOME=/Users/you USER=you
exec /linux/usr/bin/setpriv --reuid=502 --regid=20 --init-groups /bin/zsh -l
"""


@dataclass(frozen=True)
class Piece:
    """A line of a shell block with the hosts named above it, or code in the text, with none."""

    text: str
    named: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """Where it is typed, if anywhere: see ``NOT_TYPED``. Raises ValueError if neither table knows it."""
        if self.text in NOT_TYPED or (self.text in MENTIONED and not self.named):
            return ()
        if not self.named and self.text not in TYPED:
            raise ValueError(f"say in tests/support/guide.py where this is typed, or why not: {self.text}")
        return self.named or (TYPED[self.text],)


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of a page. Raises ValueError for a block that does not say where it is typed.

    Leaves out code in the text that is one word, or a line of a file, which has an equals sign.
    """
    for match in PIECE.finditer(text):
        language, block, code = match.groups()
        if language == "sh":
            where = WHERE.search(text[: match.start()])
            if where is None:
                raise ValueError(f"nothing above this block says where it is typed: {block}")
            yield from (Piece(line, PLACES[" ".join(where[1].lower().split())]) for line in block.splitlines())
        elif block or (" " in code and " = " not in code):
            yield Piece(block or " ".join(code.split()))


def shorter(name: str) -> str:
    """A sweep of the lab's, made shorter."""
    sweep = (ROOT / f"sweeps/{name}.toml").read_text(encoding="utf-8")
    for printed, instead in SOONER.items():
        assert re.search(printed, sweep)
        sweep = re.sub(printed, instead, sweep)
    return sweep


class Reader:
    """A person who follows the page, with a terminal on the controller and on each Mac.

    ``macs`` are the hosts of the local lab by the names that the page uses.
    """

    def __init__(self, bench: Bench, folder: Path, macs: Mapping[str, str], questions: Answers = MappingProxyType({})):
        self.bench, self.macs = bench, macs
        self.home, self.folder = folder / "home", folder / "file-share-lab"
        password = Path("/run/file-share-lab", bench.name, "password").read_text()
        self.answers: Answers = {
            re.compile(r"Are you sure you want to continue connecting .*\? \Z"): self._compare,
            re.compile(r"[Pp]assword( of [^\n]*)?: ?\Z"): password,
            **questions,
            re.compile(r"(save the key \(.*\)|passphrase[^\n]*): \Z"): "",
        }
        self.terminals: dict[str, Terminal] = {}
        self._fingerprints: set[str] = set()

    def _compare(self, screen: str) -> str:
        """Yes if a Mac has shown this key on its own screen."""
        return "yes" if self._fingerprints & set(FINGERPRINT.findall(screen)) else "no"

    def type(self, text: str, place: str) -> str:
        """Type a command as printed, except ``STANDS_FOR`` and the path of `lab`; its output."""
        line = f".venv/bin/{text}" if text.startswith("lab ") and place == CONTROLLER else text
        for printed, emulated in STANDS_FOR.items():
            line = line.replace(printed, emulated)
        prints = re.compile(PRINTS.get(text, ""), re.MULTILINE)
        code, screen = self.terminals[place].type(line, prints if text in ENDLESS else None)
        output = screen.partition("\n")[2]  # after the line itself
        assert code == ENDLESS.get(text, 0), (place, line, output)
        assert prints.search(output), (place, line, output)
        if text.startswith("ssh-keygen -lf"):
            self._fingerprints |= set(FINGERPRINT.findall(output))
        return output

    @contextmanager
    def sits_down(self) -> Iterator[None]:
        self._make_folder()
        self._make_home()
        passwd = self.home.with_name("passwd")
        accounts = Path("/etc/passwd").read_text(encoding="utf-8")
        passwd.write_text(re.sub(r"(?m)^(root:(?:[^:]*:){4})[^:]*", rf"\g<1>{self.home}", accounts), encoding="utf-8")
        environment = {"HOME": str(self.home), "PYTHONPATH": str(ROOT)}
        with ExitStack() as stack:
            shell = terminal([*PRIVATE, str(passwd)], self.folder, environment, self.answers)
            self.terminals[CONTROLLER] = stack.enter_context(shell)
            for place, host in self.macs.items():
                inside = lifecycle.inside_command(self.bench.name, host, ("/bin/sh", "-c", ZSH))
                self.terminals[place] = stack.enter_context(terminal(inside, self.folder, {}, self.answers))
            for typed in self.terminals.values():  # only now: a Mac's own shell begins with such a prompt
                typed.answers = {**self.answers, LOGGED_IN: "exit"}
            yield

    def _make_folder(self) -> None:
        """Make what `git clone` and `scripts/setup.sh check` make, with a shorter sweep."""
        script = self.folder / ".venv/bin/lab"
        script.parent.mkdir(parents=True)
        script.write_text(LAB.format(python=sys.executable))
        script.chmod(0o755)
        (self.folder / "sweeps").mkdir()
        (self.folder / "sweeps/macs.toml").write_text(shorter("macs"), encoding="utf-8")
        hosts = (ROOT / "hosts.ini").read_text(encoding="utf-8")
        # the client's account has sudo without a password; the server's lines stay
        filled_in = hosts.replace("sudo = password", "sudo = nopasswd", 1).replace(MARK, "")
        (self.folder / "hosts.ini").write_text(filled_in, encoding="utf-8")

    def _make_home(self) -> None:
        (self.home / ".ssh").mkdir(parents=True, mode=0o700)
        names = {"python": sys.executable, "name": self.bench.name}
        config = "".join(SSH_CONFIG.format(host=place, inside=host, **names) for place, host in self.macs.items())
        (self.home / ".ssh/config").write_text(config)
