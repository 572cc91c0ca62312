"""No module outside lab/hosts builds a shell line from data: scripts are constants, and data goes to them as words."""

import pytest
from support import shell_lines
from support.paths import ROOT
from support.shell_lines import Checker

# The command line of a guest's kernel is one text. What comes into it are names and addresses of state.HOSTS
EXCEPTIONS = {("lab/local/backends/uml.py", "command")}
PLANTED = "lab/protocols/planted.py"
HEAD = """\
import os, shlex, subprocess, sys
from lab.base.scripts import beside, read_script
from lab.hosts.assumptions import read_assumptions
from lab.hosts.command import Command, command, script, shell_line
from lab.hosts.command import run_perl, shell_function
from lab.hosts.mounts import FIND
from lab.settings.background import background_process
FIXED = 'cat "$1"'
"""
BAD = {
    "an f-string": "def f(path): return script(f'cat {path}')",
    "a format": "def f(path): return script('cat {}'.format(path))",
    "a percent": "def f(path): return script('cat %s' % path)",
    "joined": "def f(path): return script('cat ' + path)",
    "quoted after all": "def f(path): return script(f'cat {shlex.quote(path)}')",
    "quoted words": "def f(words): return script(shlex.join(words) + ' >&2')",
    "by keyword": "def f(path): return script(text=f'cat {path}')",
    "a local name": "def f(path):\n    text = f'cat {path}'\n    return script(text)",
    "a name that grows": "def f(path):\n    text = FIXED\n    text += path\n    return script(text)",
    "a loop": "def f(paths):\n    for path in paths:\n        script(path)",
    "a method of a host": "def f(host, path): return host.shell(f'cat {path}')",
    "the words of a shell": "def f(path): return command('/bin/sh', '-c', f'cat {path}')",
    "the words of a shell in a list": "def f(path): return ['env', 'bash', '-ec', f'cat {path}']",
    "the words of a Command": "def f(path): return Command(('sh', '-c', f'cat {path}', 'sh'))",
    "perl": "def f(path): return command('perl', '-e', f'unlink q({path})')",
    "a script in perl": "def f(path): return command(*run_perl(f'unlink q({path})'))",
    "a function of a shell": "def f(path): return script(shell_function('g', f'unlink q({path})') + 'g')",
    "python": "def f(path): return [sys.executable, '-P', '-c', f'print({path})']",
    "a subprocess with a shell": "def f(path): subprocess.run(f'cat {path}', shell=True)",
    "os.system": "def f(path): os.system(f'cat {path}')",
    "os.popen": "def f(path): os.popen('cat ' + path)",
    "a test of readiness": "def f(path): return background_process('client', 'x', (), '/d', f'[ -s {path} ]')",
    "a test of readiness by name": "def f(a): return background_process('h', 'x', (), '/d', ready=f'[ -s {a} ]')",
    "a function that hands on": "def g(text): return script(text)\ndef f(path): return g('cat ' + path)",
    "a method that hands on": "class A:\n    def g(self, x, t): return script(t)\n    def f(self, p): self.g(1, p[0])",
    "a result": "def g(path): return f'cat {path}'\ndef f(path): return script(g(path))",
    "a field": "class A:\n    text: str\n\ndef f(a): return script(a.text)\ndef g(path): return A(f'cat {path}')",
    "a line of words that makes its text": "def f(path): return shell_line(f'cat {path}')",
    "scripts in a file that is named by data": "def f(name): return read_assumptions(beside(__file__, name))",
    "scripts in a field": "def f(a, x):\n    a.files = [x]\n    read_assumptions(a.files[0])",
    "a line for a test of a port": "def listening(port): return f'grep {port}'",
}
GOOD = {
    "a constant": "def f(path): return script(FIXED, path)",
    "a file": "TEXT = read_script(__file__, 'x.sh')\ndef f(path): return script(TEXT, path)",
    "scripts in a file": "class A:\n    all = (beside(__file__, 'x.toml'),)\n\ndef f(a): read_assumptions(a.all[0])",
    "joined of constants": "def f(path): return script(f'if {FIND}; then ' + FIXED + '; fi', path)",
    "one of two": "def f(path, a): return script(FIXED if a else 'id', path)",
    "handed on": "def g(text, *args): return script(text, *args)\ndef f(path): return g(FIXED, path)",
    "words for a shell": "def f(path): return command('/bin/sh', '-c', FIXED, 'sh', path)",
    "words quoted once, in lab/hosts": "def f(a): return background_process('h', 'x', (), '/d', shell_line(FIXED, a))",
    "another program's -c": "def f(path): return command('smbpasswd', '-c', path)",
}


@pytest.fixture(scope="module")
def lab_modules() -> list[shell_lines.Module]:
    return shell_lines.read(ROOT, "lab")


def test_every_script_of_the_lab_is_a_constant(lab_modules: list[shell_lines.Module]) -> None:
    violations = Checker(lab_modules).violations()
    assert {place: text for place, text in violations.items() if place not in EXCEPTIONS} == {}
    assert violations.keys() == EXCEPTIONS  # an exception that is none any more goes


@pytest.fixture(scope="module")
def around() -> list[shell_lines.Module]:
    """What the planted lines call."""
    names = ("lab.hosts.command", "lab.hosts.mounts")
    return [module for module in shell_lines.read(ROOT, "lab/hosts") if module.name in names]


def violations_of(source: str, around: list[shell_lines.Module]) -> list[str]:
    planted = shell_lines.parse(HEAD + source + "\n", PLANTED)
    return [text for (path, _), text in Checker([*around, planted]).violations().items() if path == PLANTED]


@pytest.mark.parametrize("name", BAD)
def test_a_script_that_is_made_of_data_is_noticed(name: str, around: list[shell_lines.Module]) -> None:
    assert len(violations_of(BAD[name], around)) == 1


@pytest.mark.parametrize("name", GOOD)
def test_a_constant_script_is_not(name: str, around: list[shell_lines.Module]) -> None:
    assert violations_of(GOOD[name], around) == []


def test_no_script_waits_by_a_clock_that_somebody_may_set() -> None:
    scripts = list((ROOT / "lab").rglob("*.sh"))
    assert len(scripts) > 50
    assert [path.name for path in scripts if "date +%s" in path.read_text(encoding="utf-8")] == []
