"""Ask for a password like readpassphrase(3): on the terminal, without echo."""

import termios


def ask(text: str) -> str | None:
    """The typed password, or None without a terminal."""
    try:
        with open("/dev/tty", "rb+", buffering=0) as terminal:  # noqa: PTH123  a path cannot open it unbuffered
            before = termios.tcgetattr(terminal)
            silent = termios.tcgetattr(terminal)
            silent[3] &= ~termios.ECHO
            termios.tcsetattr(terminal, termios.TCSAFLUSH, silent)
            try:
                terminal.write(text.encode())
                answer = b""
                while (byte := terminal.read(1)) not in (b"", b"\n", b"\r"):
                    answer += byte or b""
                terminal.write(b"\n")
            finally:
                termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
    except (OSError, termios.error):
        return None
    return answer.decode(errors="surrogateescape")
