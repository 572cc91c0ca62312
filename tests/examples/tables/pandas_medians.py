from pathlib import Path

import pandas

trials = pandas.concat(map(pandas.read_parquet, Path("exports").glob("*.parquet")))
good = trials[(trials["status"] == "ok") & ~trials["anchor"] & ~trials["protocol"].isin(["link", "store"])]
good = good.assign(MB_per_s=good["size_bytes"] / good["elapsed_s"] / 1e6)
speeds = good.groupby(["run_id", "case_id"])["MB_per_s"]
table = pandas.DataFrame(
    {"n": speeds.size(), "q25": speeds.quantile(0.25), "median": speeds.median(), "q75": speeds.quantile(0.75)}
)
table.to_csv("medians.csv")
