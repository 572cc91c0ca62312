"""What survives a copy: probes of one attribute each, laid on one host, copied by a tool, and read at both ends."""
