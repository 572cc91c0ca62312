"""What a target of `lab measure` may look like, and what is said of one that is none."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.base.errors import BadInput
from lab.measure.target import Folder, SshName, Target, Url, parse_target

SECRET = "hunter2"
PASSWORD = f"smb://ann:{SECRET}@nas/media"


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("/Volumes/media", Folder("/Volumes/media")),
        ("/Volumes/JSS REPO/", Folder("/Volumes/JSS REPO")),
        ("/mnt/nas/../other/./x", Folder("/mnt/other/x")),
        ("smb://nas/media", Url("smb", "nas", "media")),
        ("SMB://ann@nas.local:1445/media/films/new/", Url("smb", "nas.local", "media", "films/new", "ann", 1445)),
        ("cifs://nas/media", Url("smb", "nas", "media")),
        ("smb://WORK;ann@nas/a%20b%2523", Url("smb", "nas", "a b%23", user="WORK;ann")),
        ("smb://GUEST:@192.168.0.1/share", Url("smb", "192.168.0.1", "share", user="GUEST")),
        ("smb://[fe80::1%25en0]:445/media", Url("smb", "fe80::1%en0", "media", port=445)),
        ("nfs://nas/export/home", Url("nfs", "nas", "/export/home")),
        ("nfs://[2001:db8::2]:2049/x", Url("nfs", "2001:db8::2", "/x", port=2049)),
        ("afp://ann@nas/Media", Url("afp", "nas", "Media", user="ann")),
        ("afp://;AUTH=No%20User%20Authent@nas/Media", Url("afp", "nas", "Media")),
        ("afp://ann;auth=Client%20Krb%20v2@nas/Media", Url("afp", "nas", "Media", user="ann")),
        ("//nas/media", Url("smb", "nas", "media")),
        ("//ann@nas/JSS%20REPO", Url("smb", "nas", "JSS REPO", user="ann")),
        (r"\\nas\media\films", Url("smb", "nas", "media", "films")),
        ("nas:/export/home/", Url("nfs", "nas", "/export/home")),
        ("[2001:db8::2]:/x", Url("nfs", "2001:db8::2", "/x")),
        ("nas", SshName("nas")),
        (" smb://nas//media\n", Url("smb", "nas", "media")),
        ("ann@nas.example.org", SshName("nas.example.org", "ann")),
        ("2001:db8::2", SshName("2001:db8::2")),
    ],
)
def test_a_target_is_read_as_people_write_it(text: str, target: Target) -> None:
    assert parse_target(text) == target


def test_a_path_is_one_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ann")
    (tmp_path / "media" / "films").mkdir(parents=True)
    assert [parse_target(text) for text in ("~/nas", "~")] == [Folder("/home/ann/nas"), Folder("/home/ann")]
    expected = [Folder(f"{tmp_path}/x"), Folder(str(tmp_path)), Folder(str(tmp_path.parent))]
    assert [parse_target(text) for text in ("./x", ".", "..")] == expected
    assert parse_target("media") == Folder(f"{tmp_path}/media"), "a folder that is there comes before a host"
    assert parse_target("media/films") == Folder(f"{tmp_path}/media/films")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "TARGET is empty: give a folder such as"),
        ("  ", "TARGET is empty"),
        ("nas\x1b[2J", "character that cannot be seen"),
        ("x" * 1001, "more than a thousand characters"),
        ("http://x", "begins with http://, which is no share that the lab knows: known are smb, cifs, nfs, afp"),
        ("ssh://nas", "a host to log in to is given by its name alone"),
        ("smb://nas", "names a server, and no share of it: write smb://SERVER/SHARE"),
        ("//nas/", "names a server, and no share of it"),
        ("afp://nas/", "write afp://SERVER/SHARE"),
        ("nfs://nas/", "names a server, and no export of it: write nfs://SERVER/EXPORT/PATH"),
        ("nas:/", "no export"),
        ("nfs://ann@nas/x", "names an account, and NFS has none"),
        *((f"smb://{name}/media", f"'{name}' is not the name or address of a server") for name in ("", "-x", "a,b")),
        ("smb://fe80::1/media", "put an IPv6 address in brackets"),
        ("smb://[nas]/media", "'nas' is not the name of a host, and not an IPv6 address"),
        *(
            (text, "has something after the % that is not the name of an interface, such as fe80::1%eth0")
            for zone in ("$(id)", "`id`", "a;b", "a b", "-o", "a:b", "x" * 16)
            for text in (f"smb://[fe80::1%{zone}]/x", f"nfs://[fe80::1%25{zone}]/x", f"[fe80::1%{zone}]:/x")
        ),
        ("smb://nas:70000/media", "not a port from 1 to 65535"),
        *((f"smb://nas/{name}", "for a line break: write a % itself as %25") for name in ("a%00b", "a%ff", "a%0Ab")),
        ("/mnt/a\nb", "TARGET has a line break or another character that cannot be seen"),
        (r"nas\media", r"has a \ in it, and there is no such folder here: a share is //SERVER/SHARE"),
        ("smb://nas/..", "'..' is not the name of a share"),
        ("smb://nas/media/../etc", "has a . or .. in it"),
        ("smb://-ann@nas/media", "account"),
        (r"\nas\media", r"begins with one \, as a shell leaves it"),
        ("nas/media", "has a / in it, and there is no such folder here: a share is //SERVER/SHARE"),
        ("smb:/nas/media", "begins with smb:/, and a share begins with smb://: write smb://SERVER/SHARE"),
        ("NFS:/nas/x", "begins with NFS:/, and a share begins with NFS://: write nfs://SERVER/EXPORT/PATH"),
        ("nas:media", "'nas:media' is not the name of a host, and not an IPv6 address"),
        *((name, "is not the name of a host") for name in ("a b", "-x")),
        ("a;b@nas", "is not the name of an account"),
    ],
)
def test_what_is_no_target_is_refused_with_what_to_write(text: str, complaint: str) -> None:
    with pytest.raises(BadInput) as error:
        parse_target(text)
    assert complaint in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        PASSWORD, f"//ann:{SECRET}@nas/media", rf"\\ann:{SECRET}@nas\media", f"nfs://ann:{SECRET}@nas/media",
        f"smb:/ann:{SECRET}@nas/media",
        f"ann:{SECRET}@nas:/export", f"ann:{SECRET}@nas", f"smb://ann:{SECRET}/x@nas/media",
        f"smb://ann:x@{SECRET}@nas/media", f"ann:{SECRET}/x@nas",
    ],
)  # fmt: skip
def test_a_password_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(BadInput) as error:
        parse_target(text)
    assert SECRET not in str(error.value)
    why = "all users of a machine see what its commands are told: leave it out"
    assert text != PASSWORD or why in str(error.value)


names = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")) | st.just(" "), min_size=1, max_size=20)
parts = names.filter(lambda name: name not in (".", "..") and not set(name) & set("/\\"))
servers = st.from_regex(r"[a-z0-9][a-z0-9.-]{0,20}", fullmatch=True) | st.ip_addresses().map(str)
accounts = parts.filter(lambda name: not name.startswith("-") and not set(name) & set(":/@;"))
urls = st.builds(
    Url, st.sampled_from(["smb", "afp"]), servers, parts, st.lists(parts, max_size=3).map("/".join),
    st.just("") | accounts, st.none() | st.integers(1, 65535),
) | st.builds(
    lambda server, path, port: Url("nfs", server, f"/{'/'.join(path)}", port=port),
    servers, st.lists(parts, min_size=1, max_size=4), st.none() | st.integers(1, 65535),
)  # fmt: skip


@given(urls)
def test_a_url_is_read_back_as_it_is_written(url: Url) -> None:
    assert parse_target(str(url)) == url


@given(st.text(max_size=40) | st.text("smbnfa:/@\\[]%.~-;1x ", max_size=40))
def test_any_text_is_a_target_or_bad_input(text: str) -> None:
    with suppress(BadInput):
        target = parse_target(text)
        assert parse_target(str(target)) == target
