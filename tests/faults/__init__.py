"""The fault matrix: break a run at every command that it sends, and see what is left.

See docs/contributing/run-the-fault-matrix.md.
"""
