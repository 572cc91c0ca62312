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

OLD_VALUES: dict[Operation, str] = {
    FileImage(f"/private{OWN}/store.dmg", f"/private{OWN}/store"): "absent",
    BlockRamDisk(1048576): "absent",
    DeviceMount(f"{OWN}/store", "/dev/sdb"): "absent",
    DeviceNode(f"/dev/{OWN_NAME}/vdev-1", "/dev/disk/by-id/ata-X_1", "partition", OWN_NAME): "absent",
    DiskImage(f"/private{OWN}/store.dmg"): "absent",
    Ext4(f"{OWN}/ram"): "absent",
    Folder(OWN): "absent",
    GvfsFuse(f"{OWN}/gvfs"): "absent",
    GvfsMount(f"{OWN}/gvfs", "smb://WORKGROUP;lab@192.0.2.2/my%20share"): "absent",
    ImageFile(f"{OWN}/store.image"): "absent",
    ImageVolume(f"/private{OWN}/store"): "absent",
    ImageMount(f"{OWN}/store", f"{OWN}/store.image"): "absent",
    Ksmbd(): "absent",
    LinuxMtu("eth0"): "1500",
    LinuxShareMount(f"{OWN}/mnt"): "absent",
    LinuxTcpBuffer("net.ipv4.tcp_rmem"): "4096\t131072\t33554432",
    LoopDisks(f"{OWN}/store.vdevs", f"/dev/{OWN_NAME}"): "absent",
    LoopModule(): "absent",
    MacExport(f"{OWN}/ram", "/", 501, 20, "192.0.2.0", "255.255.255.0", "unended"): "absent",
    MacMtu("en0"): "1500",
    MacPool(OWN_NAME, f"/private{OWN}/store.dmg", f"/private{OWN}/store"): "absent",
    MacNfsd(): "stopped",
    MacService("com.apple.smbd"): "off",
    MacServiceSwitch("com.apple.smbd"): "disabled",
    MacShareMount(f"/private{OWN}/mnt"): "absent",
    MacSharePoint(f"{OWN_NAME}-smb"): "absent",
    MacSysctl("net.inet.tcp.sendspace"): "131072",
    NamedDevice("/dev/sdb", OWN_NAME): "free",
    NfsThreads(): "0",
    ShareFolder(f"/mnt/nas/{OWN_NAME}", "//192.0.2.2/my share", of_lab=False): "absent",
    Process(f"{OWN}/smb", "smbd", root=True): "absent",
    RamImage(4199504, f"/private{OWN}/ram"): "absent",
    RamVolume(f"/private{OWN}/ram"): "absent",
    TakenHostJournal("/var/lib/file-share-lab", "01234567"): "absent",
    Tmpfs(f"{OWN}/ram"): "absent",
    VdevFiles(f"{OWN}/store.vdevs"): "absent",
    ZfsModule(): "absent",
    Zpool(OWN_NAME, f"{OWN}/store.vdevs"): "absent",
    ZpoolOnDisks(OWN_NAME, f"/dev/{OWN_NAME}", f"{OWN}/store.vdevs"): "absent",
}
