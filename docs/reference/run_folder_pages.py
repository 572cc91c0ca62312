"""The pages about a run folder: its files, the fields of a trial, and what is counted during one."""

from collections.abc import Iterator
from dataclasses import fields
from typing import get_type_hints

from described import notation, record, table

from lab.platforms import Facts
from lab.results import dataframe, trial
from lab.results.effective import Effective
from lab.results.observed import (
    Bonnie,
    BonnieTest,
    FrameFacts,
    HostUsage,
    Observed,
    RateStep,
    Requests,
    RequestsOneWay,
    TcpFacts,
    WireFacts,
)
from lab.results.one_sided import ClientLink, MeasuredShare
from lab.results.run_keys import RunKeys
from lab.results.samples import ConnectionAtATime, Course
from lab.results.together import ClientPart, Together
from lab.run.restore.vocabulary import kinds
from lab.schemas.fields import descriptions
from lab.settings import journal
from lab.settings.operation import Operation

DERIVED = {
    "bytes_per_s": "`size_bytes` / `elapsed_s`.",
    "MB_per_s": "The same in 10^6 bytes per second.",
    "share_of_ceiling": "`bytes_per_s` / `ceiling_bytes_per_s`.",
    "client_cpu_s_per_GB": "`client_cpu_s` per 10^9 bytes of payload.",
    "server_cpu_s_per_GB": "`server_cpu_s` per 10^9 bytes of payload.",
}


FILES = """# Files and fields of a run folder

`results/<UTC>-<sweep name>/`

| file | what |
|---|---|
| `run.json` | [what the run was](#run-json) |
| `trials.jsonl` | [one line a trial](#a-trial); a line that a crash tore goes to `trials.torn` |
| `samples.jsonl` | [the course of each trial](observed.md#the-course-of-a-trial); no table rests on it |
| `journal.jsonl` | [the changes to the hosts](#a-change), begun and put back; a torn last line goes to `journal.torn` |
| `journal.aside-1.jsonl` | a journal that no longer counts, for the hosts were asked, or the run was somebody else's |
| `by-hand.txt` | only while something could not be put back: the commands that do it by hand |
| `commands.log` | [every command](#commands-log) sent to a host, its duration and exit code; never its standard input |
| `report/` | what `lab report` made: `report.html`, `post.md` and its appendix, [`table.csv`](#table-csv), `figures/` |
| `fidelity.json` | of [`lab fidelity`](../how-to/see-what-a-copy-keeps.md) alone: every verdict |

Nobody but its owner can read a run folder (mode 0700). What is written into it is as open as the folder is:
`chmod -R go+rX RUN` opens it to others, now and for what follows. Nothing in it is read or written through a link, and
what is added to must have no second name (hard link).

## commands.log

Each command is a line: time, host, duration, how it ended, `#` for root or `$`, and the command as a shell reads it. A
long word, such as a script, stands once in a line of its own, `w3f2a91bc=$'…'`, and is `"$w3f2a91bc"` in commands; a
long command that comes again is `eval "$w…"`. To run a command of
**your own** run by hand in bash or zsh, read the words first, which runs nothing. Then copy a command from the log:

```sh
eval "$(grep '^w[0-9a-f]*=' commands.log)"
/bin/sh -c "$w3f2a91bc" sh eth0
```

A command that failed is followed by the last lines that it printed, each after `    | `.

To read one script: `eval "$(grep '^w3f2a91bc=' commands.log)"; echo "$w3f2a91bc"`. In a run of somebody else
these lines are not yours: read them, and evaluate nothing.
"""


def run_folder_page() -> Iterator[str]:
    """Files and fields of a run folder."""
    yield FILES
    yield "## run.json\n\n" + record(RunKeys).replace("{schema}", f"{trial.SCHEMA}")
    yield "### Facts of a host\n\nWhat the host says of itself before the run.\n\n" + record(Facts)
    yield "### target and link\n\nThe share that was measured:\n\n" + record(MeasuredShare)
    yield "The client's interface that leads to its server:\n\n" + record(ClientLink)
    yield """## A trial

A line of `trials.jsonl`. `null` means: not measured. The ceilings are lines too: that of the link has the protocol
`link`, that of the server's disk the protocol `store`. [Counted and in effect](observed.md) has the keys of `effective`
and `observed`.
"""
    yield record(trial.Trial)
    yield """## A change

A line of `journal.jsonl`, written before the change, and a file of the host's own journal. It holds no command. A line
with another key, another kind of operation or a parameter out of its range is refused, with file and line. Then nothing
of that journal is done. Every line of `journal.jsonl` ends with a key `seal`, which proves that this controller wrote
it, in this run, after the lines above it.
"""
    yield record(journal.Record)
    yield "When it has been put back, a second line says so.\n\n" + record(journal.Restored)
    yield """### Operations

All that the lab does to a host's state and puts back. What reads the value and what brings an old one back is made by
the code from the kind and its parameters. `old` and `new` of a change match the pattern of the values. A *lasting*
change outlives a restart of the host.
"""
    yield table(("kind", "what", "parameters", "values"), map(_operation, kinds().values()))
    yield """## table.csv

A row a trial, a column for each [field of a trial](#a-trial); `options`, `effective` and `observed` as JSON. Text that
a spreadsheet would take for a formula gets a `'` before it. `lab.results.load` gives the same as a DataFrame. Further
columns:
"""
    columns = [name for name in dataframe.frame([], {}).columns if name not in trial.FIELDS]
    options = {name: f"The level of `{name}`, of `options`." for name in columns if name not in DERIVED}
    yield table(("column", "meaning"), [(f"`{name}`", {**options, **DERIVED}[name]) for name in columns])
    yield "One more for each option of a mount that a trial names, such as `smb.signing`; `–` for other protocols.\n"


def observed_page() -> Iterator[str]:
    """What is inside ``effective`` and ``observed`` of a trial, and a line of samples.jsonl."""
    yield """# Counted and in effect

The objects `effective` and `observed` of [a trial](run-folder.md#a-trial), and a line of `samples.jsonl`. A key is
absent where the system does not tell or count it.

## effective

What was in effect, as both hosts and the mount said. The [options of the mount](sweep-file.md#options-of-a-mount) are
here too, by their names in a sweep, such as `nfs.version`.
"""
    yield record(Effective) + "\n## observed\n"
    yield record(Observed)
    yield """### client and server

From right before to right after the transfer. Shares are from 0 to 1. On macOS shares of cores' time count only seconds
that lie wholly within the transfer.
"""
    yield record(HostUsage)
    yield "### tcp\n\nAs the sender saw the connection last; of a read whose server nobody logged in to, as the"
    yield "receiver did. Counts are of this transfer.\n"
    yield record(TcpFacts) + "\n### wire\n"
    yield record(WireFacts) + "\n### rate_step\n"
    yield record(RateStep) + "\n### requests\n"
    yield record(Requests) + "\n#### read and write\n"
    yield record(RequestsOneWay) + "\n### frames\n"
    yield record(FrameFacts) + "\n### together\n"
    yield record(Together) + "\n#### A client\n"
    yield record(ClientPart) + "\n### bonnie\n"
    yield record(Bonnie) + "\n#### A test\n"
    yield record(BonnieTest)
    yield """## The course of a trial

A line of `samples.jsonl`: `trial_id`, and for each host lists that are as long as there were readings. The first and
the last reading are those around the transfer. `null`: a reading lacks the number.
"""
    yield record(Course) + "\n### A connection at a time\n"
    yield record(ConnectionAtATime)


def _operation(kind: type[Operation]) -> tuple[str, str, str, str]:
    """A row about a kind of operation."""
    owners = [owner for owner in kind.__mro__ if issubclass(owner, Operation) and owner is not Operation]
    about = {name: text for owner in owners for name, text in descriptions(owner).items()}
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in fields(kind)]
    parameters = "; ".join(f"`{name}` ({notation(hints[name])}): {about[name].rstrip('.')}" for name in names)
    what = " ".join(str(kind.__doc__).split()) + ("" if kind.volatile else " Lasting.")
    return f"`{kind.kind}`", what, parameters or "–", f"`{kind.values}`"
