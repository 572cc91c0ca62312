"""A dataset: the trials of many runs in one folder, as Parquet, and their statistics through DuckDB."""
