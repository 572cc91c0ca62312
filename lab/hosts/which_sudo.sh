# Print how sudo works for an account with a password: a key of SUDO in ssh.py.
sudo -k
if sudo -n true 2>/dev/null; then echo nopasswd
elif sudo -k -n true 2>&1 | grep -q '^usage: '; then echo 'password, remembered'
else echo password; fi
