"""Types of the parameters of operations. Others may have written a journal: what no lab writes is refused."""

import dataclasses
import functools
import re
import typing
from typing import Annotated

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from lab.base.errors import LabFailure
from lab.hosts.fields import absolute, device_path

# Names of the lab's own folders: a run's in mount_base, in memory or in the share, with a token; and a host journal's.
# No operation concerns a path outside of such a folder.
OWN_FOLDER = r"file-share-lab-([0-9a-f]{8}|[0-9a-f]{16})"
HOST_JOURNAL_FOLDER = "file-share-lab"
LONGEST_PATH = 1024
BOOT = "[0-9A-Za-z :-]{0,200}"


def own_path(value: str) -> str:
    """The full path of a run's own folder, or a path below it; ValueError otherwise."""
    is_own = any(re.fullmatch(OWN_FOLDER, part) for part in value.split("/"))
    if not value.startswith("/") or len(value) > LONGEST_PATH or not is_own:
        raise ValueError("is not a full path with a folder file-share-lab-TOKEN of the lab's own in it")
    absolute(value)
    return value


def own_folder(value: str) -> str:
    """The full path of a run's own folder; ValueError otherwise."""
    if not re.fullmatch(OWN_FOLDER, value.rpartition("/")[2]):
        raise ValueError("is not a folder file-share-lab-TOKEN of the lab's own")
    return own_path(value)


def host_journal_folder(value: str) -> str:
    """The full path of a host's journal, or empty for the usual one; ValueError otherwise."""
    if not value:
        return value
    if not value.startswith("/") or value.rpartition("/")[2] != HOST_JOURNAL_FOLDER or len(value) > LONGEST_PATH:
        raise ValueError(f"is not a full path that ends in {HOST_JOURNAL_FOLDER}")
    absolute(value)
    return value


OwnPath = Annotated[str, AfterValidator(own_path)]
OwnFolder = Annotated[str, AfterValidator(own_folder)]
HostJournalFolder = Annotated[str, AfterValidator(host_journal_folder)]
FolderName = Annotated[str, Field(pattern=f"^{OWN_FOLDER}$")]
DevicePath = Annotated[str, AfterValidator(device_path)]
Token = Annotated[str, Field(pattern=r"^[0-9A-Za-z]{1,32}$")]
NoToken = Annotated[str, Field(pattern=r"^[0-9A-Za-z]{0,32}$")]
HostKey = Annotated[str, Field(pattern=r"^[a-z][a-z0-9.-]{0,30}$")]
Boot = Annotated[str, Field(pattern=f"^{BOOT}$")]
ProcessName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9.-]{0,30}$")]
AccountId = Annotated[int, Field(ge=0, le=2**32 - 1)]


@functools.cache
def _checks(owner: type) -> dict[str, TypeAdapter[object]]:
    hints = typing.get_type_hints(owner, include_extras=True)
    return {field.name: TypeAdapter(hints[field.name]) for field in dataclasses.fields(owner)}


def check_fields(owner: object, what: str) -> None:
    """Raise LabFailure if a field of a dataclass is out of range; ``what`` names the object."""
    kind: type = type(owner)
    for name, check in _checks(kind).items():
        value = getattr(owner, name)
        try:
            check.validate_python(value, strict=True)
        except ValidationError as error:
            wrong = error.errors(include_url=False)[0]
            why = str(wrong.get("ctx", {}).get("error", "")) or wrong["msg"]
            raise LabFailure(f"{what}: {name} {value!r:.100} is out of range: {why}") from error
