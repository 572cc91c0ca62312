"""Passwords that programs print: none is left in a text, and a text without one stays as it is."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import bounded
from support.paths import LINUX_CAPTURES, MACOS_CAPTURES

from lab.base.secret_texts import MASK, all_without_secrets, json_without_secrets, without_secrets

SECRET = "hunter2"
# What mount programs, file managers, copy programs and web clients print. SECRET stands for the password
WITH_SECRET = [
    "mount_smbfs: //ann:SECRET@nas/Films on /Volumes/Films: No route to host",
    "smb://FIRM;ann:SECRET@nas/x", "afp://ann:SECRET@nas.local/x", "afp://ann;AUTH=DHX2:SECRET@nas/x",
    "afp:/at/ann:SECRET@nas:zone/x", "//:SECRET@nas/x", "ftp://ann:SECRET@[fe80::1%25en0]/x",
    "smb://ann:p@SECRET@nas/x", "//ann:p/SECRET@nas/x", "//ann:p@a/SECRET@nas/x", "//ann:my SECRET x@nas/x",
    "smb://ann:SECRET%21@nas", "<string>smb://ann:SECRET@nas/x</string>", "'//ann:it'SECRET@nas/x'",
    "rsync: ann:SECRET@nas.local::mod", "ann:SECRET@192.168.1.5: refused", "'ann:SECRET@nas'", "ann:a/SECRET@nas:/x",
    "mount -t cifs -o username=ann,password=SECRET,vers=3.0 //nas/x", "-o user=ann,pass=SECRET", "volpass=SECRET",
    "pass='SECRET',domain='X'", "password='a SECRET'", 'password="a SECRET"', "password=a,SECRET,ro", "pass=a;SECRET",
    "PASSWD=SECRET", "pwd=SECRET", "secret=SECRET", "token=SECRET", "sudo_password = SECRET", "PGPASSWORD=SECRET psql",
    "access_token=SECRET", "password=>SECRET", "(password=SECRET)", "pw: SECRET", "Password: SECRET rejected",
    "password:SECRET", "SMB_PASSWORD: SECRET", "Passwort: SECRET", "with password SECRET", "password is 'SECRET'",
    '{"password": "SECRET"}', '{\\"password\\": \\"SECRET\\"}', "{'password': 'SECRET'}",
    "http://x/?user=ann&password=SECRET&x=1", "http://x/?token=SECRET", "Authorization: Basic SECRET==",
    "-H 'Authorization: Bearer SECRET'", "X-Auth-Token: SECRET", "Set-Cookie: id=SECRET; path=/",
    "[sudo] password for ann: SECRET", "Password for //ann@nas: SECRET", "--password SECRET", "--password=SECRET x",
    "sshpass -p SECRET ssh nas", "smbclient //nas/x -U ann%SECRET", "-U 'FIRM\\ann%SECRET'", "curl -u ann:SECRET x",
    "net use Z: \\\\nas\\x /user:FIRM\\ann SECRET", "echo SECRET | sudo -S true", "echo 'a SECRET' | sudo -S true",
    "-o user=FIRM/ann%SECRET,vers=3", "--user ann%SECRET",
    "<password>SECRET</password>", "<key>Password</key>\n<string>SECRET</string>", "ann:$6$salt$SECRET.xyz:19000:",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET\n-----END OPENSSH PRIVATE KEY-----",
]  # fmt: skip
WITHOUT = [
    "session setup failed: NT_STATUS_LOGON_FAILURE", "sudo: a password is required", "[sudo] password for ann: ",
    "[sudo] password for ann: Sorry, try again.", "password = env:LAB_PASSWORD", "password = prompt",
    "[share] password: no environment variable X", "password: wrong", "Permission denied (publickey,password).",
    "passwd: files systemd", "PWD=/root/x", "smb://ann@nas:445/x", "nas:/export/x", "at 10:15:30", "mailto:ann@x.org",
    "kex: algorithm: curve25519-sha256@libssh.org", "ctos: umac-128-etm@openssh.com,hmac-sha2-256-etm@openssh.com",
    "ssh -i ~/.ssh/id_ed25519 ann@nas", "-o PasswordAuthentication=no", "unexpected token: x is not", "by-pass: 3",
    "lab ALL=(root) NOPASSWD: ALL", "tank/films@auto-2024", "ends with `password:`, and asks again", "tokens=12",
    "--password to give it", "mount_smbfs [-h] //[domain;][user[:password]@]server[/share] path", "client:macos@15.5",
    "nas:/volume1/@eaDir/x: Permission denied",
]  # fmt: skip


@pytest.mark.parametrize("form", WITH_SECRET)
def test_a_password_is_left_in_no_text(form: str) -> None:
    shown = without_secrets(form.replace("SECRET", SECRET))
    assert SECRET not in shown
    assert MASK in shown
    assert without_secrets(shown) == shown


def test_what_only_speaks_of_one_stays() -> None:
    captures = sorted([*LINUX_CAPTURES.iterdir(), *MACOS_CAPTURES.iterdir()])
    for text in (*WITHOUT, *(path.read_text(errors="replace") for path in captures)):
        assert without_secrets(text) == text


def test_what_is_around_it_stays() -> None:
    text = "mount_smbfs: //ann:hunter2@nas/Films on /Volumes/Films: No route to host"
    assert without_secrets(text) == text.replace("hunter2", MASK)
    assert without_secrets("-o username=ann,password=hunter2,vers=3.0") == f"-o username=ann,password={MASK},vers=3.0"
    assert json.loads(without_secrets('{"password": "hunter2", "user": "ann"}')) == {"password": MASK, "user": "ann"}


SIGNS = st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="\"'<>,;&`\\%@")
PASSWORDS = st.builds("x7{}9z".format, st.text(SIGNS, min_size=4, max_size=16))
HOLDERS = ["x //ann:{}@nas/y", "smb://ann:{}@nas.local", "-o password={},vers=3", "password={}", '"password": "{}"',
           "pw: {}", "http://h/?token={}", "--password {} -v"]  # fmt: skip


@given(password=PASSWORDS, holder=st.sampled_from(HOLDERS), before=st.text(max_size=30), after=st.text(max_size=30))
def test_whatever_it_is_it_is_found(password: str, holder: str, before: str, after: str) -> None:
    shown = without_secrets(f"{before}\n{holder.format(password)}\n{after}")
    assert password not in shown
    assert without_secrets(shown) == shown


@given(st.text(st.characters(exclude_characters="@:=%$\\<>-\"'"), max_size=200))
def test_a_text_without_the_signs_of_one_stays(text: str) -> None:
    if not re.search("passw|passph|passc|passwo|kennw|bearer|eyj", text, re.IGNORECASE):
        assert without_secrets(text) == text


def test_in_json_a_key_says_so_too() -> None:
    record = {"reason": "smb://ann:hunter2@nas", "list": ["pw=hunter2", 7], "password": "hunter2", "size": 3.5}
    assert SECRET not in json.dumps(all_without_secrets(record))
    assert all_without_secrets(record)["list"][1] == 7
    assert json.loads(json_without_secrets(json.dumps(record))) == all_without_secrets(record)
    hidden = '{"reason": "\\u0070assword=hunter2"}'
    assert SECRET not in json_without_secrets(hidden)
    text = '{"client": {"user_s": 1.5}}'
    assert json_without_secrets(text) is text


@pytest.mark.parametrize(
    "sign", ["//a:", "password=", "a:b@", "-----BEGIN PRIVATE KEY-----", "a.", '"\\', "password ", "eyJ", "curl -u "]
)
def test_a_text_that_is_made_to_take_long_does_not(sign: str) -> None:
    with bounded():
        without_secrets("password" + sign * 20_000)
