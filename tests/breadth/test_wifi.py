"""A data link that is Wi-Fi: its rate and signal stand in each trial, and at the top of what is shown of a run."""

from collections.abc import Callable

from support.local_lab import Bench

RADIO = {"wifi_bits_per_s": 866_700_000, "wifi_signal_dbm": -54, "wifi_noise_dbm": -92}


def test_the_wifi_of_a_mac_is_recorded_and_named(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--platform", "client=macos@15.5", "--platform", "server=linux")
    assert bench.lab("local", "fault", "--name", bench.name, "client", "wifi").returncode == 0
    assert "it is wireless" in " ".join(bench.lab("check", "--hosts", str(bench.hosts)).stdout.split())
    done = bench.run(protocol=["ssh"], tool=["rsync"], store=["ram"], size="1 MiB", blocks=1)
    assert done.returncode == 0, done.stdout
    trials = bench.trials()
    assert len(trials) == 2
    for trial in trials:
        assert {name: trial["observed"]["client"].get(name) for name in RADIO} == RADIO
        assert not set(trial["observed"]["server"]) & set(RADIO)
    shown = bench.lab("show").stdout
    assert "the link of the client was Wi-Fi, 867 Mbit/s, −54 dBm" in " ".join(shown.split())
    counted = bench.lab("show", "--table", "counted").stdout
    assert "Wi-Fi" in counted
