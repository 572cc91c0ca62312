"""Two hosts on one Linux machine, in namespaces or with kernels of their own: real servers and a real link."""
