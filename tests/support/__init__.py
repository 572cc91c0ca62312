"""What tests share: hosts that answer from a script, real sshds, local labs, synthetic runs."""
