"""What a terminal shows."""

import io

from rich.console import Console, RenderableType


def rendered(*tables: RenderableType, width: int = 80) -> str:
    screen = io.StringIO()
    Console(file=screen, width=width, color_system=None).print(*tables)
    return screen.getvalue()
