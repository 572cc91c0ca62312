from lab import results, stats

run = results.open_run("share-run.zip")  # or "https://example.org/runs/share-run.zip"
trials = results.load(run.path)
print(stats.effects(stats.grid(trials), ["tool"]).loc[0, "change_pct"])
