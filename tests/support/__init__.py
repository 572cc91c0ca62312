"""What tests share: fake and emulated hosts, real sshds, local labs, synthetic runs."""
