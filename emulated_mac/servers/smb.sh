#!/bin/sh
# Runs Samba.
# usage: smb.sh STATE   (STATE: the folder of its configuration)
exec smbd --foreground --no-process-group --debug-stdout -s "$1/smb.conf"
