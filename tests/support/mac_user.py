"""Two emulated Macs, a new one and an old one, and what their user types at a prompt."""

from support.local_lab import Bench

NEW, OLD = "client", "server"
VERSIONS = {NEW: (15, 5), OLD: (10, 6)}  # of 2024 and of 2009
PLATFORMS = ("--platform", f"{NEW}=macos@15.5", "--platform", f"{OLD}=macos@10.6")


def run(macs: Bench, host: str, script: str) -> tuple[int, str]:
    """Run a script as the user who logs in: its exit code, and all that it prints."""
    words = ("sudo", "-u", "lab", "/bin/sh", "-c", f"exec 2>&1; cd /private/tmp; {script}")
    done = macs.execute(host, *words)
    return done.returncode, done.stdout


def output_of(macs: Bench, host: str, script: str) -> str:
    """All that a script prints, which must not fail."""
    code, output = run(macs, host, script)
    assert code == 0, output
    return output


def await_(test: str) -> str:
    """A command that tries another until it succeeds, for two minutes, and then fails."""
    return f"tries=0; until {test}; do tries=$((tries + 1)); [ $tries -lt 600 ] || exit 1; sleep 0.2; done"
