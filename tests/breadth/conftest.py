"""Hosts that several files share."""

from support.account_of_signs import keeper
from support.guarded_links import links
from support.killed_runs import killed
from support.liar import clean_hosts, liar
from support.measure_scene import one_scene, scene
from support.narrow_runs import narrow, unchanged
from support.own_link import lab_of_its_own, network
from support.room import room
from support.unseen_server import served, unseen

__all__ = [
    "clean_hosts",
    "keeper",
    "killed",
    "lab_of_its_own",
    "liar",
    "links",
    "narrow",
    "network",
    "one_scene",
    "room",
    "scene",
    "served",
    "unchanged",
    "unseen",
]
