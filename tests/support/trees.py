"""Sweeps of trees of many files."""

SWEEP = """
name = "trees"
blocks = 1
ceiling_seconds = 1
[workload]
kind = "tree"
{tree}
[factors]
protocol = {protocols}
tool = ["cp", "rsync", "tar"]
direction = ["write", "read"]
client_sync = ["close"]
"""

PHASES = """
name = "phases"
blocks = 1
ceiling_seconds = 1
[workload]
kind = "tree"
profile = "source-tree"
size = "512 KiB"
[factors]
protocol = ["afp", "smb", "nfs"]
tool = ["metadata"]
metadata.phase = ["create", "stat", "list", "rename", "delete"]
client_sync = ["close"]
"""
