"""An operation of every kind, with a valid old value."""

from lab.platforms.files import Folder
from lab.platforms.linux.ram_disk import BlockRamDisk, Ext4, Tmpfs
from lab.platforms.linux.settings import LinuxMtu, LinuxTcpBuffer
from lab.platforms.macos.disk_images import RamImage, RamVolume
from lab.platforms.macos.settings import MacMtu, MacSysctl
from lab.protocols.mounts.gvfs import GvfsFuse, GvfsMount
from lab.protocols.mounts.linux import LinuxShareMount
from lab.protocols.mounts.macos import MacShareMount
from lab.protocols.nfs.knfsd import NfsThreads
from lab.protocols.nfs.macos import MacExport, MacNfsd
from lab.protocols.servers.macos_sharing import MacService, MacServiceSwitch, MacSharePoint
from lab.protocols.share_folder import ShareFolder
from lab.protocols.smb.ksmbd import Ksmbd
from lab.settings.background import Process
from lab.settings.host_journal import TakenHostJournal
from lab.settings.operation import Operation
from lab.stores.image_file_system import DeviceMount, ImageFile, ImageMount
from lab.stores.mac_volume import DiskImage, FileImage, ImageVolume
from lab.stores.named_device import DeviceNode, NamedDevice
from lab.stores.o3x import MacPool
from lab.stores.operations import LoopModule
from lab.stores.zpool import LoopDisks, VdevFiles, ZfsModule, Zpool, ZpoolOnDisks
from support.pairs import OWN, OWN_NAME

ABSENT: tuple[Operation, ...] = (
    FileImage(f"/private{OWN}/store.dmg", f"/private{OWN}/store"), BlockRamDisk(1048576),
    DeviceMount(f"{OWN}/store", "/dev/sdb"),
    DeviceNode(f"/dev/{OWN_NAME}/vdev-1", "/dev/disk/by-id/ata-X_1", "partition", OWN_NAME),
    DiskImage(f"/private{OWN}/store.dmg"), Ext4(f"{OWN}/ram"), Folder(OWN), GvfsFuse(f"{OWN}/gvfs"),
    GvfsMount(f"{OWN}/gvfs", "smb://WORKGROUP;lab@192.0.2.2/my%20share"), ImageFile(f"{OWN}/store.image"),
    ImageVolume(f"/private{OWN}/store"), ImageMount(f"{OWN}/store", f"{OWN}/store.image"), Ksmbd(),
    LinuxShareMount(f"{OWN}/mnt"), LoopDisks(f"{OWN}/store.vdevs", f"/dev/{OWN_NAME}"), LoopModule(),
    MacExport(f"{OWN}/ram", "/", 501, 20, "192.0.2.0", "255.255.255.0", "unended"),
    MacPool(OWN_NAME, f"/private{OWN}/store.dmg", f"/private{OWN}/store"), MacShareMount(f"/private{OWN}/mnt"),
    MacSharePoint(f"{OWN_NAME}-smb"), ShareFolder(f"/mnt/nas/{OWN_NAME}", "//192.0.2.2/my share", of_lab=False),
    Process(f"{OWN}/smb", "smbd", root=True), RamImage(4199504, f"/private{OWN}/ram"), RamVolume(f"/private{OWN}/ram"),
    TakenHostJournal("/var/lib/file-share-lab", "01234567"), Tmpfs(f"{OWN}/ram"), VdevFiles(f"{OWN}/store.vdevs"),
    ZfsModule(), Zpool(OWN_NAME, f"{OWN}/store.vdevs"),
    ZpoolOnDisks(OWN_NAME, f"/dev/{OWN_NAME}", f"{OWN}/store.vdevs"),
)  # fmt: skip
OLD_VALUES: dict[Operation, str] = {
    **dict.fromkeys(ABSENT, "absent"),
    LinuxMtu("eth0"): "1500", LinuxTcpBuffer("net.ipv4.tcp_rmem"): "4096\t131072\t33554432", MacMtu("en0"): "1500",
    MacNfsd(): "stopped", MacService("com.apple.smbd"): "off", MacServiceSwitch("com.apple.smbd"): "disabled",
    MacSysctl("net.inet.tcp.sendspace"): "131072", NamedDevice("/dev/sdb", OWN_NAME): "free", NfsThreads(): "0",
}  # fmt: skip
