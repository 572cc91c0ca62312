"""A report as one page of HTML: its frame, style and script, tables, figures inside it, and the trials of a run."""
