"""The clusters of the docs listen by TLS, and draw on loopback alone; Dask knows each key of its file."""

import inspect
import runpy
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import dask.config
import distributed
import pytest
import yaml

from lab.fleet import scheduler

CLUSTERS = Path(__file__).with_name("clusters")
PEM = "/shared/fleet/fleet.pem"


def run(monkeypatch: pytest.MonkeyPatch, name: str, module: str, cluster: str) -> tuple[MagicMock, dict[str, Any]]:
    """Run an example with a stand-in for its cluster; what it used the cluster for, and the options that it gave."""
    made = MagicMock(scheduler_address="tls://10.0.0.5:8786")
    made.__enter__.return_value = made
    factory = MagicMock(return_value=made)
    part = ModuleType(module)
    part.__dict__.update({cluster: factory, "Security": distributed.Security})
    monkeypatch.setitem(sys.modules, module, part)
    monkeypatch.setattr(signal, "pause", lambda: None)
    runpy.run_path(str(CLUSTERS / name))
    return made, dict(factory.call_args.kwargs)


def test_the_ssh_cluster(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _, options = run(monkeypatch, "ssh_cluster.py", "dask.distributed", "SSHCluster")
    inspect.signature(distributed.SSHCluster).bind(["a", "b"], **options)
    assert options["scheduler_options"]["protocol"] == "tls://"
    assert {options[part]["dashboard_address"][:10] for part in options} == {"127.0.0.1:"}
    scheduler.check_address(capsys.readouterr().out.strip())


def test_the_slurm_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, options = run(monkeypatch, "slurm_cluster.py", "dask_jobqueue", "SLURMCluster")
    assert isinstance(options["security"], distributed.Security)
    assert options["scheduler_options"]["dashboard_address"].startswith("127.0.0.1:")
    assert options["worker_extra_args"] == ["--dashboard-address", "127.0.0.1:0"]
    cluster.scale.assert_called_once_with(jobs=2)


def test_dask_takes_its_certificates_from_the_file() -> None:
    content = yaml.safe_load((CLUSTERS / "dask.yaml").read_text())
    with dask.config.set(dask.config.merge(dask.config.config, content)):
        security = distributed.Security()
        assert security.require_encryption
        for role in ("scheduler", "worker", "client"):
            tls = security.get_tls_config_for_role(role)
            assert [tls[name] for name in ("ca_file", "cert", "key")] == [PEM, PEM, "/shared/fleet/fleet.key"]
