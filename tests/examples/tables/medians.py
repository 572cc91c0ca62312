import pandas

trials = pandas.read_parquet("both.parquet")
good = trials[(trials["status"] == "ok") & ~trials["protocol"].isin(["link", "store"])]
good = good.assign(MB_per_s=good["size_bytes"] / good["elapsed_s"] / 1e6)
print(good.groupby(["run_name", "protocol", "tool", "direction"])["MB_per_s"].median())
