"""The emulated kernel: a process of root's that programs ask over a socket (:mod:`..kernel_client`).

It keeps what a kernel keeps (sysctls, disks, mounts) in memory, so that a reboot forgets it, and does the work on the
Linux below. It knows who asks, as a kernel does, and refuses with an errno. ``server`` answers, ``system_calls`` says
what a system call is; every other module has the system calls of one subject.
"""
