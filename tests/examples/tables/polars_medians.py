import polars

speed = polars.col("size_bytes") / polars.col("elapsed_s") / 1e6
(
    polars.scan_parquet("exports/*.parquet", missing_columns="insert", extra_columns="ignore")
    .filter(polars.col("status") == "ok", ~polars.col("anchor"), ~polars.col("protocol").is_in(["link", "store"]))
    .group_by("run_id", "case_id")
    .agg(n=polars.len(), q25=speed.quantile(0.25, "linear"), median=speed.median(), q75=speed.quantile(0.75, "linear"))
    .sort("run_id", "case_id")
    .sink_csv("medians.csv")
)
