"""Runs set against a first one: what is compared, the answer in sentences, tables, JSON values, and files to read."""
