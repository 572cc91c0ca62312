"""Backends for guests: the first that boots is taken, and why another is not is told and kept."""

import platform
from pathlib import Path

import pytest
from support.local_lab import Bench

from lab.base.errors import LabFailure
from lab.local import guest_kernels as kernels
from lab.local import layered_root, root_image
from lab.local.backends import GUESTS, choose

pytestmark = pytest.mark.skipif(platform.machine() != kernels.MACHINE, reason=f"guests are for {kernels.MACHINE} only")


def test_an_emulated_mac_has_no_kernel_of_its_own(tmp_path: Path) -> None:
    words = ("local", "up", "--name", "no-such-guests", "--kernel", "own", "--platform", "macos@15.5")
    assert "--kernel own is for Linux" in Bench("no-such-guests", tmp_path).refusal(2, *words)


def test_a_lab_on_this_machines_kernel_has_no_backend_to_choose(tmp_path: Path) -> None:
    words = ("local", "up", "--name", "no-such-guests", "--backend", "uml")
    message = Bench("no-such-guests", tmp_path).refusal(2, *words)
    assert message == "--backend uml is for guests\ngive --kernel own too\n"


def test_a_guest_that_does_not_boot_is_told_with_its_last_words_and_asked_once_a_boot(tmp_path: Path) -> None:
    answer, layers = tmp_path / "answer.json", [tmp_path, root_image.ensure()]
    problem = layered_root.find_problem(answer, layers, "echo one; echo KVM internal error; echo RAX=0", 600)
    assert problem == "a guest did not boot: one / KVM internal error"
    assert layered_root.find_problem(answer, layers, f"echo {layered_root.BOOTED}", 600) == problem
    answer.write_text('{"boot": "another", "problem": "none that is known"}')
    assert layered_root.find_problem(answer, layers, f"echo {layered_root.BOOTED}", 600) == ""


def test_a_guest_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    layers = [tmp_path, root_image.ensure()]
    problem = layered_root.find_problem(tmp_path / "answer.json", layers, "exec sleep 1000", 1)
    assert problem == "a guest did not boot in 1 s: no message"


def test_the_first_backend_that_boots_is_taken_and_the_others_words_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"kvm": "there is no /dev/kvm", "uml": "", "tcg": "too slow"}
    for name, answer in answers.items():
        monkeypatch.setattr(GUESTS[name], "prepare", lambda answer=answer: answer)
    backend, why = choose(True, "", ["linux"])
    assert (backend.name, why) == ("uml", "the first that boots here; kvm: there is no /dev/kvm")
    monkeypatch.setattr(GUESTS["uml"], "prepare", lambda: "Kernel panic")
    with pytest.raises(LabFailure, match="kvm: there is no /dev/kvm; uml: Kernel panic; tcg: too slow"):
        choose(True, "", ["linux"])
