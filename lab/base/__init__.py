"""What everything rests on: errors, units, validation, untrusted text, durable files, signals, plug-ins."""
