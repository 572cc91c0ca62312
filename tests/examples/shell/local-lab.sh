# Two hosts on this machine, with 1 ms between them each way; their hosts file is hosts.local.first.ini.
sudo .venv/bin/lab local up --name first --delay 1ms
sudo .venv/bin/lab check --hosts hosts.local.first.ini
sudo .venv/bin/lab plan tests/examples/sweeps/first.toml
sudo .venv/bin/lab run --hosts hosts.local.first.ini tests/examples/sweeps/first.toml
sudo .venv/bin/lab show
sudo .venv/bin/lab report
sudo .venv/bin/lab local down --name first
