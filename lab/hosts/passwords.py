"""Reads passwords from their sources. SecretStr keeps a password out of logs and messages."""

import getpass
import os
import shlex
import stat
import sys
from pathlib import Path

from pydantic import SecretStr

from lab.base import untrusted
from lab.base.errors import BadInput


class NoPassword(BadInput):
    """A source has no password; ``why`` is the reason without the place of the source."""

    def __init__(self, message: str, why: BadInput):
        super().__init__(f"{message}: {why}")
        self.why = why


_taken: dict[str, SecretStr] = {}  # from the environment, by variable, which may be used more than once


def resolve(source: str, owner: str, key: str) -> SecretStr:
    """The password from ``source``: ``prompt``, ``env:X``, ``file:X`` or ``keyring:X``. Raises NoPassword.

    ``owner`` says whose password it is; errors begin with ``key``, the place of the source in the hosts file.
    """
    kind, _, where = source.partition(":")
    try:
        password = {"prompt": _prompt, "env": _environment, "file": _file, "keyring": _keyring}[kind](where, owner)
        if not password:
            raise BadInput("it is empty", "a share for guests takes the account guest, with any word as password")
        if "\n" in password:
            raise BadInput("it has more than one line")
    except BadInput as error:
        raise NoPassword(f"{key} = {source}: no password of {owner}", error) from error
    return SecretStr(password)


def check(source: str, owner: str, key: str) -> None:
    """Raise NoPassword as :func:`resolve` does, without asking a person or a keyring."""
    if source.startswith(("env:", "file:")):
        resolve(source, owner, key)


def _prompt(_: str, owner: str) -> str:
    if sys.stdin is None or not sys.stdin.isatty():  # None if it is closed
        raise BadInput("there is no terminal to ask at", "use env:, file: or keyring:")
    try:
        return getpass.getpass(f"Password of {owner}: ")
    except EOFError as error:
        remedy = "type it, or use env:, file: or keyring:"
        raise BadInput("the input ended where it was asked for", remedy) from error


def _environment(name: str, _: str) -> str:
    if name in os.environ:  # removed, so that no program inherits it
        _taken[name] = SecretStr(os.environ.pop(name))
    if name not in _taken:
        raise BadInput(f"the environment variable {name} is not set")
    return _taken[name].get_secret_value()


def _file(name: str, _: str) -> str:
    path = Path(name)
    try:
        path = path.expanduser()
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise BadInput(f"{path} cannot be read: it is not an ordinary file")
        if mode & 0o077:
            raise BadInput(f"{path} can be read by others: `{shlex.join(['chmod', '600', str(path)])}`")
        return untrusted.read_file(path, untrusted.MOST_INPUT_BYTES, links=True).decode().rstrip("\r\n")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        # not chained: that error holds the content
        raise BadInput(f"{path} cannot be read: it is not UTF-8 text") from None
    except (RuntimeError, ValueError) as error:  # no such ~user, or no such path at all
        raise BadInput(f"{path} cannot be read: {error}") from error


def _keyring(service: str, owner: str) -> str:
    import keyring  # slow to import, rarely needed

    try:
        password = keyring.get_password(service, owner)
    except keyring.errors.KeyringError as error:
        raise BadInput(f"the keyring cannot be read: {error}") from error
    if password is None:
        put = shlex.join(["keyring", "set", service, owner])
        raise BadInput(f"the keyring does not have it: `{put}` puts it there")
    return str(password)
