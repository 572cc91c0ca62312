"""All protocols, tools and payloads that the lab has."""

from __future__ import annotations

from lab import protocols, workloads
from lab.design.catalogue import Catalogue

CATALOGUE = Catalogue(protocols.find, workloads.tool, workloads.payload)
