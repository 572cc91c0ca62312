"""SSHFS: files over SSH, mounted by FUSE; the server is the sshd that the protocol ssh starts for itself."""

from collections.abc import Generator

from lab.base.errors import Unsupported
from lab.hosts.command import command
from lab.protocols.driver import Attached, Protocol, Share, Side
from lab.protocols.mounts.linux import mount_setting
from lab.protocols.ssh import PORT, UnixSsh
from lab.settings.operation import Setting

SFTP_SERVER = "/usr/lib/openssh/sftp-server"  # Debian's; the lab's own sshd offers no subsystem


class LinuxSshfs(UnixSsh):
    """Serves as ssh does; mounts with sshfs."""

    def mount_method(self, client: Side) -> str:
        """Raises Unsupported if the host has no sshfs."""
        if client.host.shell("command -v sshfs", check=False).exit_code != 0:
            raise Unsupported("no sshfs", "apt-get install sshfs", host=client.host.name)
        return "sshfs over FUSE"

    def attach(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        """Mount the folder, after a try of the login, which tells the cipher."""
        login = yield from super().attach(client, server, share)
        path = f"{client.directory}/mnt"
        client.host.run("mkdir", "-p", path)
        # sshfs splits its ssh_command at each space and knows no quotes, so the words go into a script
        connect = client.write("sshfs-connect", f'exec {login.remote_shell} "$@"\n')
        options = ("-o", f"ssh_command=/bin/sh {connect}", "-o", f"sftp_server={SFTP_SERVER}")
        yield mount_setting(client, path, command("sshfs", *options, login.path, path, deadline_s=60))
        return Attached(path, effective={**login.effective, "mount": "sshfs"})


PROTOCOL = Protocol("sshfs", PORT, mounted=True, drivers={"linux": LinuxSshfs})
