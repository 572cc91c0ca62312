"""What is put back, over further protocols and transports."""

import signal
from pathlib import Path

import pytest
from scenarios.test_confirmed_change import (
    test_a_controller_that_is_gone_leaves_a_host_that_takes_it_back as controller_is_gone,
)
from scenarios.test_confirmed_change import (
    test_what_cuts_the_controller_off_is_taken_back_by_the_host as taken_back,
)
from scenarios.test_failed_trials import test_an_ordinary_user_with_a_sudo_password as with_password
from scenarios.test_recovery import test_a_sweep_over_the_very_link_that_it_changes as over_the_link
from scenarios.test_remount import test_a_share_that_was_used_is_mounted_anew_and_its_session_stays as mounted_anew
from scenarios.test_runs_with_narrow_sudo import test_a_share_is_measured_and_everything_put_back as measured
from scenarios.test_several_clients import test_a_sweep_of_one_and_three_clients as sweep_of_clients
from scenarios.test_several_clients import (
    test_all_clients_are_put_back_after_a_run_that_ended_early as clients_are_put_back,
)
from scenarios.test_unseen_server import test_after_a_kill_in_mid_transfer_restore_leaves_nothing as killed_unseen
from scenarios.test_unseen_server import (
    test_it_is_measured_through_a_mount_of_the_labs_own as measured_unseen,
)
from support.local_lab import Bench
from support.own_link import Network
from support.unseen_server import SHARE


def test_a_link_that_is_down_is_taken_back(network: Network) -> None:
    taken_back(network, "down")


def test_a_controller_that_is_unplugged(network: Network) -> None:
    controller_is_gone(network, "unplugged")


def test_a_sudo_password_over_ssh(bench: Bench) -> None:
    with_password(bench, "ssh")


def test_a_sweep_over_its_own_link_by_openssh(bench: Bench) -> None:
    over_the_link(bench, "openssh")


@pytest.mark.parametrize("protocol", ["nfs", "afp"])
def test_further_shares_are_mounted_anew(bench: Bench, protocol: str) -> None:
    mounted_anew(bench, protocol)


def test_nfs_with_a_narrow_sudo(unchanged: tuple[Bench, Path]) -> None:
    measured(unchanged, "nfs", [9000], ["64 KiB"])


def test_several_clients_are_put_back_after_ctrl_c(room: Bench) -> None:
    clients_are_put_back(room, signal.SIGINT)


def test_a_sweep_of_clients_over_nfs_and_in_bands(room: Bench) -> None:
    sweep_of_clients(room, ["smb", "nfs", "ssh"], ["cp", "rsync", "bands"])


def test_an_unseen_server_of_nfs(unseen: Bench) -> None:
    measured_unseen(unseen, "nfs", {"path": SHARE})


def test_a_mount_of_somebody_elses_after_a_kill(unseen: Bench) -> None:
    killed_unseen(unseen, True)
