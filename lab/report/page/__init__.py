"""A report as one page of HTML: its frame, style and script, tables, figures inside, and the page of a run."""
