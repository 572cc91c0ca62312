"""Invented messages of programs on hosts, each with the names and passwords in it."""

# Output of mount.cifs, mount_smbfs, mount_afp, mount.nfs, smbclient, gio, rsync, ssh, zpool, smartctl and others
NAMED: dict[str, tuple[str, ...]] = {
    "cannot open 'tankbob': pool I/O is currently suspended": ("tankbob",),
    "  pool: silobob\n\tsilobob  DEGRADED  0  0  0\n\t  mirror-0  ONLINE  0  0  0\n\t    bobsdisk1  ONLINE":
        ("silobob", "bobsdisk1"),
    "\t    16604657609174159965  UNAVAIL  0  0  0  was /dev/disk/by-id/ata-WDC_WD40-68_WD-WCC7K0ABCDEF-part1":
        ("16604657609174159965", "WCC7K0ABCDEF"),
    "cannot receive: destination vaultbob/filmdir has been modified": ("vaultbob", "filmdir"),
    "Serial Number:    WD-WCC4E1234567\nLU WWN Device Id: 5 0014ee 2b1234567": ("WCC4E1234567", "2b1234567"),
    "ata-Samsung_SSD_870_EVO_1TB_S6PUNX0R123456A: I/O error": ("S6PUNX0R123456A",),
    "disk Samsung_SSD_860_EVO_2TB_S5PUNX0R123456B is faulted": ("S5PUNX0R123456B",),
    "ata-ST3000DM001-1CH166_Z1F1PYM6  UNAVAIL": ("Z1F1PYM6",),
    "usb-Seagate_Expansion_NA8ABCDE-0:0 went away": ("NA8ABCDE",),
    "wwn-0x5000c500a1b2c3d4-part1, scsi-350014ee2b4b6726d": ("5000c500a1b2c3d4", "50014ee2b4b6726d"),
    "nvme-eui.0025385b71b0c1d2 naa.5000c500a1b2c3d5 nvme.144d-533547584e-53616d73756e67-00000001":
        ("0025385b71b0c1d2", "5000c500a1b2c3d5", "533547584e"),
    "mount: /dev/disk/by-uuid/1F34-ABCD: can't read superblock on /dev/disk/by-label/BobsBackup.":
        ("1F34-ABCD", "BobsBackup"),
    "/dev/mapper/bobvg-crypt: busy; target iqn.2005-10.org.freenas.ctl:bobtarget": ("bobvg", "bobtarget"),
    "mount error: could not resolve address for nasone.myfritz.net: Unknown error": ("nasone",),
    "ssh: Could not resolve hostname nastwo.synology.me: nodename nor servname provided": ("nastwo", "synology"),
    "nasthree.myqnapcloud.com:445 refused, nasfour.duckdns.org too": ("nasthree", "nasfour"),
    "(nasfive.dyndns.org), nassix.no-ip.org, nas-seven.tail1234.ts.net.": ("nasfive", "nassix", "nas-seven", "tail12"),
    "https://cloud.mueller-family.de/remote.php: 404": ("mueller-family",),
    r"\\fs01.contoso.com\bobshare\Taxes 2025.pdf: denied": ("fs01", "contoso", "bobshare", "Taxes"),
    "ssh: connect to host naseight port 22: Connection refused": ("naseight",),
    "Connection closed by nasnine port 22": ("nasnine",),
    "bobby@nasten's password: ": ("bobby", "nasten"),
    "rsync error: bobtwo@naseleven:secretdir/x: No such file": ("bobtwo", "naseleven", "secretdir"),
    "mount.nfs: access denied by server while mounting nastwelve:/volume1/Bobfilms": ("nastwelve", "Bobfilms"),
    "mount_nfs: can't mount /export/bobexport from nasthirteen onto /Volumes/BobVol: Permission denied":
        ("bobexport", "nasthirteen", "BobVol"),
    "nfs: server nasfourteen not responding, still trying": ("nasfourteen",),
    r"session setup failed for FIRMAX\bsmith: NT_STATUS_LOGON_FAILURE": ("FIRMAX", "bsmith"),
    r"user gmbhx\carla unknown": ("gmbhx", "carla"),
    "kinit: Client 'dsmith@KRB.EXAMPLE.COM' not found; principal esmith@KRBTWO": ("dsmith", "KRB.", "esmith", "KRBTWO"),
    "\\\\nasfifteen\\Family Photos\\Ann 1\\a7.mov: No space left": ("nasfifteen", "Family Photos", "Ann 1", "a7.mov"),
    "smb://nassixteen/famshare/sub7/x7.doc": ("nassixteen", "famshare", "sub7", "x7.doc"),
    "gio: smb://nasseventeen/giofilms/: Failed to mount Windows share: Invalid argument": ("nasseventeen", "giofilms"),
    "/run/user/1000/gvfs/smb-share:server=naseighteen,share=gvfilms,user=fsmith/y7.txt: busy":
        ("naseighteen", "gvfilms", "fsmith", "y7.txt"),
    "ether 3c:07:54:aa:bb:cc, 3c07.54aa.bbcd": ("54:aa", "54aa"),
    "fe80::1c3a:2ff:fe11:2%en0 [2a02:8109:9c40::17]:445 172.16.9.8": ("1c3a", "8109", "172.16.9"),
    "Dave's Mac mini._smb._tcp.local. can be reached at daves-imac.local": ("Dave", "daves-imac"),
    'rsync: change_dir "/home/gsmith/wedding7" failed: No such file': ("gsmith", "wedding7"),
    "C:\\Users\\Hal Smith\\Desk7\\z7.doc denied": ("Hal Smith", "Desk7", "z7.doc"),
    "umount: /media/ismith/IDISK: target is busy.": ("ismith", "IDISK"),
    "cp: '/srv/jdata/film7.mov': Permission denied; ~ksmith/films7": ("jdata", "film7.mov", "ksmith"),
    "/Volumes/Bob's Disk/q7 failed": ("Bob's", "q7"),
    "Failed password for invalid user lsmith from 10.1.2.3 port 22": ("lsmith", "10.1.2.3"),
    "check_ntlm_password: Authentication for user [msmith] FAILED, Domain=[DOMX]": ("msmith", "DOMX"),
    "-o username=nsmith,domain=FIRMAZ,vers=3 //nastwenty/pshare": ("nsmith", "FIRMAZ", "nastwenty", "pshare"),
    "SSID: BobsWiFi-5G": ("BobsWiFi",),
    "DESKTOP-4H5LMAV, Annas-MacBook-Pro": ("4H5LMAV", "Annas"),
    "Robert's NAS, and a Mac mini of Oscar Meyer": ("Robert", "Oscar", "Meyer"),
    "afp://psmith@nas21.local/PVol": ("psmith", "nas21", "PVol"),
    "@ERROR: access denied to modone from pcone (10.0.0.1); @ERROR: auth failed on module modtwo":
        ("modone", "pcone", "modtwo"),
    "Password for [WORKGROUP\\vsmith]: ": ("vsmith",),
    "\tfilmsone          Disk      Movies of Wanda": ("filmsone", "Wanda"),
    "do_connect: Connection to nas26 failed (Error NT_STATUS_UNSUCCESSFUL)": ("nas26",),
    "The authenticity of host 'nas27 (10.0.0.1)' can't be established.": ("nas27",),
    "ED25519 key fingerprint is SHA256:qeWglFqF05SSvXnKgOMPRLYJLEwOnJPhmwzoFnlUY1s.": ("qeWglFqF05",),
    "Warning: Permanently added 'nas28' (ED25519); Host 'nas29' is known": ("nas28", "nas29"),
    "debug1: Authenticating to nas30:22 as 'xsmith'": ("nas30", "xsmith"),
    "exportfs: /silo7/xfilms/Summer 7 does not support NFS export": ("silo7", "xfilms", "Summer 7"),
    "mount.cifs: permission denied: no match for /mnt/remote7 found in /etc/fstab": ("remote7",),
    "pcfour (ipv4:10.0.0.2:53) connect to service filmsfour initially as user ysmith (uid=1000)":
        ("pcfour", "filmsfour", "ysmith"),
    "Volume ZDisk on disk4s1 failed to unmount: dissented": ("ZDisk",),
    'login failed for user "zsmith" on volume "Zoe\'s Files"; options were user=zsmithb,vers=3':
        ("zsmith", "Zoe", "zsmithb"),
    "mount_afp: the volume Wedding Films does not exist": ("Wedding Films",),
    "   Volume Name:              WBackup\n": ("WBackup",),
    "sudo: 3 incorrect password attempts by usmithc": ("usmithc",),
    '{"username": "tsmithd", "share": 7}; smbutil --user ssmithe': ("tsmithd", "ssmithe"),
    "net use Z: /user:FIRMAQ\\rsmithf; mount -o 'user=FIRMAP/qsmithg'": ("FIRMAQ", "rsmithf", "FIRMAP", "qsmithg"),
    "https://nas31/api: 404; nas32@nas33::modthree/7": ("nas31", "modthree"),
    'wlan0     ESSID:"WlanSeven"': ("WlanSeven",),
    "dk0=adVN=SevenMachine,adVF=0x82": ("SevenMachine",),
    "afpd: login psmithh (uid 1000, gid 20)": ("psmithh",),
    "failed to open \"/share/Nine Films/Ann 9.mov\"; tar: ./ten films/Ann10.mov":
        ("Nine Films", "Ann 9", "ten films", "Ann10"),
    "Ann-Millers-iMac went to sleep": ("Ann-Millers",),
    "ID_SERIAL_SHORT=WD-WCC7K9, IEEE EUI-64: 0025385 b71b0c1d2": ("WCC7K9", "b71b0c1d2"),
}  # fmt: skip
# Programs repeat the URL or the option that they were given
PASSWORDS = ("hunter2aa", "s3cretbb", "t0kencc", "pa55dd", "p@55w0rd-ee", "qu3ry-ff", "h34der-gg", "js0n-hh")
WITH_PASSWORDS = (
    "mount_smbfs: //qsmith:hunter2aa@nas22/QFilms on /Volumes/Q: No route to host",
    "cifs username=rsmith,password=s3cretbb,vers=3.1.1", "afp://ssmith;AUTH=DHX2:t0kencc@nas23/SevenVol: error -5023",
    "tsmith:pa55dd@nas24: refused", "pw: p@55w0rd-ee", "http://nas25.lan/api?user=usmith&token=qu3ry-ff",
    "Authorization: Bearer h34der-gg", '{"password": "js0n-hh"}',
)  # fmt: skip
BESIDE = ("qsmith", "nas22", "QFilms", "rsmith", "ssmith", "nas23", "SevenVol", "tsmith", "nas24", "nas25", "usmith")
# Text without names: numbers, units, programs, versions, options, protocols, errors
PLAIN = (
    "smb://host-1/share-1: NT_STATUS_LOGON_FAILURE (0xc000006d), exit code 32 after 1.5 s",
    "rsync  version 3.4.1  protocol version 32; iperf 3.18; OpenSSH_9.9p1, OpenSSL 3.4.0; macOS 15.5 (24F74)",
    "SMB 3.1.1, AES-128-GCM, signing on; NFS 4.2, rsize=1048576,wsize=1048576,hard,proto=tcp,nconnect=4",
    "trials.jsonl, run.json, hosts.ini, sweep.toml, post.md, report.html, noise.pl, libfuse.so, table.csv, fio.tar.gz",
    "lab.results.public, net.ipv4.tcp_rmem, net.inet.tcp.sendspace, com.apple.smbd, observed.client.tx, smb.dialect",
    "kex: curve25519-sha256@libssh.org, cipher: chacha20-poly1305@openssh.com, mac: umac-64-etm@openssh.com",
    "write: 117.3 MB/s [116, 119], 94 % of the link, 3:1, 1,024 KiB, 10:15:30, 2026-11-28T03:03:04Z, 1e-9 s, v1.2.3",
    "cp: cannot stat 'payload-1': Stale file handle; No space left on device; Connection timed out",
    "mount: unknown filesystem type 'cifs'; /dev/sda1 on / type ext4 (rw,relatime); nvme0n1p2, disk2s1, loop0, tmpfs",
    "see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-4J and https://www.samba.org/samba/docs/",
    "state: ONLINE; mirror-0 ONLINE 0 0 0; raidz1-0; scan: none requested; errors: No known data errors",
    "Apple M4 Pro, 12 cores, 24.0 GiB; Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz; AMD EPYC 7B13; Samsung SSD 870 EVO",
    "sudo: a password is required; Permission denied (publickey,password).; password = env:LAB_PASSWORD; x86_64",
    "server: the share's folder; a Mac's share point; it's not there; client's caches; e.g. done.It is so. 1.5.No",
    "two Mac minis; macos@15.5; 64 KiB at 9000 bytes; TLS_AES_256_GCM_SHA384; UTF-8; ECDHE; SHA512; PBKDF2",
)  # fmt: skip
