"""`lab check` on good hosts, as text and as JSON."""

import json

from support.local_lab import HOSTS, Bench
from support.local_lab import check_findings as findings
from support.local_lab import findings_at as of


def test_a_pair_that_is_well(bench: Bench) -> None:
    all_findings = findings(bench, bench.with_ceilings())
    assert of(all_findings, "problem", "warning") == []
    notes = {finding["subject"]: finding for finding in all_findings if finding["level"] == "note"}
    assert set(notes) <= {"link MTU", "nfs options", "smb options"}  # options: if this kernel has no nfs or cifs
    assert "lab check --jumbo" in notes["link MTU"]["remedy"]
    well = dict(of(all_findings, "ok"))
    assert well["client sudo"] == "logged in as root"
    assert well["server address"] == "10.99.0.2 on eth0, which leads to the other host"
    assert well["link path"] == "packets of MTU 1500 cross it in one piece, and back"
    for role in HOSTS:
        assert {f"{role} {subject}" for subject in ("SSH", "programs", "memory", "clock")} < {*well}
    assert {"afp", "nfs", "smb", "ssh", "TCP buffers", "share password"} < {*well}


def test_a_folder_on_an_overlay_is_told_to_be_no_export_and_what_helps(bench: Bench) -> None:
    all_findings = findings(bench, bench.changed_hosts(share_path="/opt"))
    (finding,) = [finding for finding in all_findings if finding["subject"] == "server volume"]
    assert finding["level"] == "warning"
    assert finding["message"].startswith("/opt is on overlay, and is not shared by NFS: overlayfs makes file handles")
    assert finding["remedy"].startswith("mount it with `nfs_export=on`")


def test_programs_that_no_sweep_can_name_are_told_and_why(bench: Bench) -> None:
    """The hosts of this lab share a kernel, and kernels can mount different file systems."""

    def programs_left_out(**changes: str) -> list[tuple[str, str]]:
        notes = of(findings(bench, bench.changed_hosts(**changes)), "note")
        return [note for note in notes if note[0].endswith(" options") and note[1].startswith("server: ")]

    shared = "cannot be named: others share this host's kernel, which has one"
    assert programs_left_out() == [
        ("nfs options", f"server: nfs.server = kernel {shared} NFS server for all"),
        ("smb options", f"server: smb.server = ksmbd {shared} ksmbd for all"),
    ]
    assert programs_left_out(share_serve="existing") == []


def test_what_a_person_reads_is_the_same_as_what_a_program_reads(bench: Bench) -> None:
    report = json.loads(bench.lab("check", "--json", "--hosts", str(bench.hosts)).stdout)
    assert report["hosts"]["server"]["mtu"] == 1500
    assert report["tcp_buffers"]["nfs"]["client"]["reaches"] is True
    *lines, verdict = bench.lab("check", "--hosts", str(bench.hosts)).stdout.splitlines()
    assert verdict.startswith("ready")
    levels = [line.split()[0] for line in lines]
    assert levels == sorted(levels, key=["problem", "warning", "note", "ok"].index)
    read = [line[9:].partition(": ")[0] for line in lines]
    known = [finding["subject"] for finding in report["findings"]]
    # the load of this machine may change in between, and with it the order
    steady = {subject for subject in (*read, *known) if not subject.endswith((" load", " quiet"))}
    assert [subject for subject in read if subject in steady] == [subject for subject in known if subject in steady]


def test_jumbo_frames_are_tried_and_everything_is_as_before(bench: Bench) -> None:
    done = bench.lab("check", "--json", "--jumbo", "--hosts", str(bench.hosts))
    (jumbo,) = [finding for finding in json.loads(done.stdout)["findings"] if finding["subject"] == "link jumbo"]
    assert (jumbo["level"], jumbo["message"]) == ("ok", "packets of 9000 bytes cross the path in one piece")
    assert list((bench.directory / "results").iterdir()) == []


def test_hosts_that_are_in_use_or_were_left_changed(bench: Bench) -> None:
    sizes = ["default", "64 KiB", "128 KiB", "256 KiB", "512 KiB", "1 MiB"]  # the MTU stays the same between cases
    with bench.started_run(mtu=[9000], tcp_space=sizes) as run:
        bench.wait_for('"b001-0001"', run)
        problems = dict(of(findings(bench), "problem"))
        for role in HOSTS:
            assert "in use by root@" in problems[f"{role} use"]
        run.kill()
    bench.wait_until_free()
    problems = dict(of(findings(bench), "problem"))
    for role in HOSTS:
        assert problems[f"{role} use"].startswith("an ended run left it changed: ")
    assert "MTU of eth0" in problems["client use"]
    bench.check_output("restore")
    assert not [subject for subject, _ in of(findings(bench), "problem")]
