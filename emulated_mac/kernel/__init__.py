"""The emulated kernel: a process of root's that programs ask over a socket (:mod:`..kernel_client`).

It keeps sysctls, disks and mounts in memory until a reboot, and does the work on the Linux below. Like a kernel it
knows the caller and refuses with an errno. ``server`` answers and ``system_calls`` defines system calls; every other
module has the system calls of one subject.
"""
