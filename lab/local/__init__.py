"""Two hosts in namespaces on one Linux machine: the embedded lab, with real servers and a real link."""
