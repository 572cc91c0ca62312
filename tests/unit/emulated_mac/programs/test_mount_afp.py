"""What mount_afp of an emulated Mac prints, against what real ones printed."""

from pathlib import Path

from support.emulated_programs import Choose

from emulated_mac import launchd_services, profiles
from emulated_mac.programs import mount_afp, place


def test_afp_is_gone_where_apple_took_it_out(choose: Choose, tmp_path: Path) -> None:
    assert [place("mount_afp", profiles.PROFILES[version]) for version in ("26.0", "27.0")] == ["/sbin", None]
    labels = {
        version: {service.label for service in launchd_services.services_of(profile)}
        for version, profile in profiles.PROFILES.items()
    }
    with_afp = {version for version, names in labels.items() if "com.apple.AppleFileServer" in names}
    assert with_afp == {"10.6.8", "10.9.5", "10.13.6", "10.15.7"}
    assert {version for version, names in labels.items() if "org.samba.smbd" in names} == {"10.6.8"}
    choose(mount_afp, "15")
    assert mount_afp.main(["-x"]) == 64
    assert mount_afp.main(["afp://u:p@127.0.0.1/v", str(tmp_path)]) == 61
