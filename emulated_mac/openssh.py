"""The algorithms of OpenSSH on Macs before 10.11 that Debian's OpenSSH still has.

They come from myproposal.h of 5.2p1 (10.6) and 6.2p2 (10.9), without elliptic curves and AES-GCM, which the OpenSSL
0.9.8 of Mac OS X lacks. So no such Mac has an ECDSA key; this was not checked. Debian's OpenSSH lost DSA, arcfour,
Blowfish, CAST and RIPEMD.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

COMMON = {
    "KexAlgorithms": "diffie-hellman-group-exchange-sha256,diffie-hellman-group-exchange-sha1,"
    "diffie-hellman-group14-sha1,diffie-hellman-group1-sha1",
    "HostKeyAlgorithms": "ssh-rsa",
    "PubkeyAcceptedAlgorithms": "ssh-rsa",
    "Ciphers": "aes128-ctr,aes192-ctr,aes256-ctr,aes128-cbc,3des-cbc,aes192-cbc,aes256-cbc",
}
MACS_OF_5_2 = "hmac-md5,hmac-sha1,umac-64@openssh.com,hmac-sha1-96,hmac-md5-96"
MACS_OF_6_2 = (
    "hmac-md5-etm@openssh.com,hmac-sha1-etm@openssh.com,umac-64-etm@openssh.com,umac-128-etm@openssh.com,"
    "hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-md5,hmac-sha1,umac-64@openssh.com,"
    "umac-128@openssh.com,hmac-sha2-256,hmac-sha2-512,hmac-sha1-96,hmac-md5-96"
)


def algorithms(number: tuple[int, ...]) -> dict[str, str]:
    """The options that limit ssh and sshd to a version's algorithms; none from 10.11 on (OpenSSH 6.9p1)."""
    if number >= (10, 11):
        return {}
    return {**COMMON, "MACs": MACS_OF_5_2 if number < (10, 9) else MACS_OF_6_2}


def become(program: str, number: tuple[int, ...], argv: list[str]) -> NoReturn:
    """Become Debian's program, limited to these algorithms."""
    options = [word for name, value in algorithms(number).items() for word in ("-o", f"{name}={value}")]
    sys.stdout.flush()
    os.execv(program, [program, *options, *argv])
