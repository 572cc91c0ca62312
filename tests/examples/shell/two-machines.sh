scripts/setup.sh check
ssh-copy-id you@client.local
ssh-copy-id you@server.local
.venv/bin/lab init
.venv/bin/lab check
.venv/bin/lab plan sweeps/macs.toml
.venv/bin/lab run sweeps/macs.toml
.venv/bin/lab report
