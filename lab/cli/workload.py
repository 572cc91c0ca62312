"""`lab workload`: what a sweep moves, recorded from a folder."""

import argparse
from pathlib import Path

from lab.cli.command import Commands, Example, add_command
from lab.cli.terminal import say, show

SUMMARY = "what a sweep moves, recorded from a folder"


def add_commands(commands: Commands) -> None:
    text = "write down how large the files of a folder are, and how they lie in folders; no name, no content"
    examples = [Example("lab workload record ~/Pictures photos.txt", 'for kind = "tree", manifest = "photos.txt"')]
    recording = add_command(commands, "record", _record, text, examples)
    recording.add_argument("folder", type=Path, metavar="FOLDER", help="a folder of this machine")
    recording.add_argument("file", type=Path, metavar="FILE", help="a new file for what is recorded")


def _record(arguments: argparse.Namespace) -> int:
    from lab.base import durable
    from lab.workloads.recording import record

    manifest, left_out = record(arguments.folder)
    head = f"# {len(manifest.files)} files, {manifest.size_bytes} bytes; each name is a hash under a key that is gone\n"
    durable.create(arguments.file, f"{head}{manifest.text()}".encode())
    folders = len(manifest.folders) + 1
    show(f"{arguments.file}: {len(manifest.files):,} files of {manifest.size_bytes:,} bytes in {folders:,} folders")
    for kind, count in sorted(left_out.items()):
        say(f"left out: {count:,} {kind}")
    return 0
