"""The helper of a narrow sudo: one program, whose table lists all that root does for the lab."""
