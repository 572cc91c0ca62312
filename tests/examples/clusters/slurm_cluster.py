import signal

from dask.distributed import Security
from dask_jobqueue import SLURMCluster

with SLURMCluster(
    cores=2,
    processes=1,
    memory="1 GiB",
    walltime="7-00:00:00",
    security=Security(),
    scheduler_options={"port": 8786, "dashboard_address": "127.0.0.1:8787"},
    worker_extra_args=["--dashboard-address", "127.0.0.1:0"],
) as cluster:
    cluster.scale(jobs=2)
    print(cluster.scheduler_address)
    signal.pause()
