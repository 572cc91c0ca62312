"""All protocols, tools, payloads and stores that the lab has."""

from lab import protocols, stores, workloads
from lab.design.catalogue import Catalogue

CATALOGUE = Catalogue(protocols.find, workloads.tool, workloads.payload, stores.find)
