scripts/setup.sh check                 # Python packages, into .venv; no root
ssh-copy-id you@client.local           # both hosts let your key in
ssh-copy-id you@server.local
$EDITOR hosts.ini                      # both hosts, their addresses on the link, the share
.venv/bin/lab check                    # what can be measured, what is missing
.venv/bin/lab plan sweeps/macs.toml    # the cases, and an estimate of the time
.venv/bin/lab run sweeps/macs.toml     # puts everything back at its end, and on Ctrl-C
.venv/bin/lab report
