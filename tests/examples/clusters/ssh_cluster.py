import signal

from dask.distributed import SSHCluster

with SSHCluster(
    ["10.0.0.5", "10.0.0.6", "10.0.0.7"],
    scheduler_options={"protocol": "tls://", "port": 8786, "dashboard_address": "127.0.0.1:8787"},
    worker_options={"nthreads": 2, "dashboard_address": "127.0.0.1:0"},
) as cluster:
    print(cluster.scheduler_address)
    signal.pause()
