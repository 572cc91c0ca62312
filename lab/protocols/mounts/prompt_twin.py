"""The twin of prompt.pl."""

import os
import re
import select
import signal
import sys
import urllib.parse


def redacted(text: str, password: str) -> str:
    """The text without the password, as it is and as a part of a URL."""
    if not password:
        return text
    encoded = urllib.parse.quote(password.encode("utf-8", "surrogateescape"), safe="")
    text = re.sub(re.escape(encoded), "***", text, flags=re.IGNORECASE)
    return text.replace(password, "***")


def become(words: list[str]) -> None:
    """The child's part, which has the terminal as its own: to become the command."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python ignores
    try:
        os.execvp(words[0], words)
    except OSError as error:
        os.write(2, f"{words[0]}: {error.strerror}\n".encode())
        os._exit(error.errno or 255)


def read_part(terminal: int) -> bytes:
    """What the command has printed since; nothing where it is silent for a moment, or its end is closed."""
    if select.select([terminal], [], [], 0.1)[0]:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # as Linux says that nobody has the other end
            part = b""
        if part:
            return part
    select.select([], [], [], 0.01)
    return b""


def talk(child: int, terminal: int, password: bytes) -> tuple[bytes, bool, int]:
    """What the command printed, whether it asked again, and its status."""
    output, answered, refused = b"", 0, False  # answered: how much it had printed when it got the password
    status = None
    while True:
        if status is None:
            pid, ended = os.waitpid(child, os.WNOHANG)
            status = ended if pid == child else None
        part = read_part(terminal)
        output += part
        if not refused and re.search(rb"password[^\n]*:\s*\Z", output[answered:], re.IGNORECASE):
            if answered:
                refused = True
                os.kill(child, signal.SIGTERM)
                os.kill(child, signal.SIGHUP)
            else:
                os.write(terminal, password + b"\n")
                answered = len(output)
        if status is not None and not part:
            return output, refused, status


def main(*words: str) -> None:
    """Run the command, and answer it."""
    line = sys.stdin.buffer.readline()
    if not line:
        sys.stderr.write("no password on standard input\n")
        sys.exit(255)
    password = line[:-1] if line.endswith(b"\n") else line
    child, terminal = os.forkpty()
    if child == 0:
        become(list(words))
    output, refused, status = talk(child, terminal, password)
    text = output.replace(b"\r", b"").decode("utf-8", "surrogateescape")
    text = redacted(text, password.decode("utf-8", "surrogateescape"))
    sys.stderr.buffer.write(text.encode("utf-8", "surrogateescape"))
    if refused:
        sys.stderr.buffer.write(b"\nit asked for the password again: the password was refused\n")
    sys.stderr.flush()
    sys.exit(77 if refused else 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))


if __name__ == "__main__":
    main(*sys.argv[1:])
