"""A dataset: the trials of many runs in one folder, as Parquet, and what lab.stats computes of them through DuckDB."""
