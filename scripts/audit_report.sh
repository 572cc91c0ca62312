#!/bin/sh
# usage: audit_report.sh REPORT CODE COUNT
# Says what pip-audit reports of COUNT packages, in its columns, and with its exit CODE, which is the same for a vulnerability
# and for no answer. Exit code 1 for a known vulnerability, 0 for none, and where nothing could be asked.
set -eu
exec awk -v code="$2" -v count="$3" '
    /^Name +Version +ID/ { part = "vulnerable"; next }
    /^Name +Skip Reason/ { part = "skipped"; next }
    /^-/ || /^ *$/ { next }
    part == "vulnerable" { print; known++ }
    part == "skipped" { reason[skipped++] = $0 }
    END {
        if (skipped >= count || (code != 0 && !known)) {
            print "make audit: NOT DONE: the database of vulnerabilities cannot be reached", reason[0] >"/dev/stderr"
            exit 0
        }
        print (count - skipped) " packages: " (known + 0) " known vulnerabilities"
        if (skipped) print "make audit: nothing is known of " skipped " more:" >"/dev/stderr"
        for (n = 0; n < skipped && n < 3; n++) print "    " reason[n] >"/dev/stderr"
        exit (known > 0)
    }' "$1"
