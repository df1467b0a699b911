"""ESI files and folders of them: which devices they have, and which of them is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from io_bridge.esi.device import read_device
from io_bridge.esi.document import EsiError, Located, Reading, read_document, text_of
from io_bridge.esi.model import EsiDevice

MARK = re.compile(r"(.*\.xml)(?:#(.*))?", re.IGNORECASE | re.DOTALL)
NUMBER = re.compile(r"(?:#x|0x)([0-9a-f]+)|([0-9]+)", re.IGNORECASE)
MOST_LISTED = 12


@dataclass(frozen=True)
class Listed:
    """A device of a file, as far as it takes to choose it."""

    element: Located
    type: str
    name: str
    product: int
    revision: int

    def __str__(self) -> str:
        return f"{self.type or self.name} {self.product:#010x}:{self.revision:#010x}"


@dataclass(frozen=True)
class EsiFile:
    """A file: its vendor, and its devices that have a product code."""

    path: Path
    vendor: int
    vendor_name: str
    devices: tuple[Listed, ...]
    mistakes: tuple[str, ...] = ()
    """Mistakes of devices whose identity cannot be read; they are not listed."""

    def read(self, device: Listed) -> EsiDevice:
        """Read one device.

        Raises
        ------
        EsiError
            All its mistakes.
        """
        found, mistakes = self.read_what_is_right(device)
        if mistakes:
            raise EsiError("\n".join(mistakes))
        return found

    def read_what_is_right(self, device: Listed) -> tuple[EsiDevice, list[str]]:
        """Read one device; return its mistakes with it; wrong values are 0 or left out."""
        reading = Reading(self.path)
        found = read_device(reading, device.element, self.vendor, self.vendor_name)
        return found, reading.mistakes


def open_esi(path: Path) -> EsiFile:
    """Open a file and list its devices.

    Raises
    ------
    EsiError
        No XML, no ESI, or a wrong vendor.
    """
    root = read_document(path)
    reading = Reading(path)
    vendor = root.find("Vendor")
    if root.tag != "EtherCATInfo" or not isinstance(vendor, Located):
        reading.wrong(root, "no ESI: <EtherCATInfo> with a <Vendor> is expected")
        reading.check()
    assert isinstance(vendor, Located)
    number = reading.child(vendor, "Id")
    reading.check()
    devices = []
    for element in root.iterfind("Descriptions/Devices/Device"):
        known = element.find("Type")
        # passive terminals have no controller, and so no product code
        if not isinstance(known, Located) or not known.get("ProductCode"):
            continue
        assert isinstance(element, Located)
        n_before = len(reading.mistakes)
        listed = Listed(
            element,
            " ".join((known.text or "").split()),
            text_of(element, "Name"),
            reading.attribute(known, "ProductCode"),
            reading.attribute(known, "RevisionNo"),
        )
        if len(reading.mistakes) == n_before:
            devices.append(listed)
    return EsiFile(path, number, text_of(vendor, "Name"), tuple(devices), tuple(reading.mistakes))


def is_esi(name: str) -> bool:
    """Return whether a name belongs to an ESI file, with or without a device behind `#`."""
    return MARK.fullmatch(name) is not None


def find_esi(name: str) -> EsiDevice:
    """Return a device by ``FILE.xml``, ``FILE.xml#PRODUCT``, ``FILE.xml#PRODUCT:REVISION``; PRODUCT is a
    code, a type or a name. Without a revision it is the newest one.

    Raises
    ------
    EsiError
        No such file, no such device, or several; all mistakes of the one that is meant.
    """
    match = MARK.fullmatch(name)
    if match is None:
        raise EsiError(f"{name}: an ESI file is named FILE.xml or FILE.xml#PRODUCT:REVISION")
    file = open_esi(Path(match[1]))
    return file.read(_chosen(file, (match[2] or "").strip()))


def _chosen(file: EsiFile, wanted: str) -> Listed:
    candidates = [d for d in file.devices if wanted.lower() in (d.type.lower(), d.name.lower())]
    if not wanted:
        candidates = list(file.devices)
    elif not candidates:
        product, _, revision = wanted.partition(":")
        candidates = [
            d
            for d in file.devices
            if product.lower() in (d.type.lower(), d.name.lower()) or _number(product) == d.product
        ]
        if revision:
            candidates = [d for d in candidates if d.revision == _number(revision)]
    if len({d.product for d in candidates}) == 1:
        return max(candidates, key=lambda d: d.revision)
    which = "several devices" if candidates else "no such device"
    listed = [str(d) for d in candidates or file.devices]
    more = f" and {len(listed) - MOST_LISTED} more" if len(listed) > MOST_LISTED else ""
    raise EsiError(
        f"{file.path}#{wanted}: {which}; name one as FILE.xml#PRODUCT:REVISION. "
        f"There are {', '.join(listed[:MOST_LISTED]) or 'none'}{more}"
        + "".join(f"\n{mistake}" for mistake in file.mistakes)
    )


def _number(text: str) -> int:
    match = NUMBER.fullmatch(text.strip())
    if match is None:
        return -1
    return int(match[1], 16) if match[1] else int(match[2])


class Library:
    """Devices of files and folders, for slaves that are known by their identity.

    Parameters
    ----------
    paths : iterable of Path
        Files, or folders whose ``*.xml`` are taken.

    Attributes
    ----------
    mistakes : list of str
        Of files and devices that are left out.

    Raises
    ------
    EsiError
        A path that is not there, or a folder without such files.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.mistakes: list[str] = []
        self._files: list[EsiFile] = []
        for path in paths:
            files = [path]
            if path.is_dir():
                files = sorted(item for item in path.iterdir() if item.suffix.lower() == ".xml")
                if not files:
                    raise EsiError(f"{path}: no *.xml in this folder")
            elif not path.exists():
                raise EsiError(f"{path}: no such file or folder")
            for file in files:
                try:
                    self._files.append(open_esi(file))
                    self.mistakes += self._files[-1].mistakes
                except EsiError as error:
                    self.mistakes += str(error).splitlines()

    def find(self, vendor: int, product: int, revision: int) -> EsiDevice | None:
        """Return the device of that revision; else of the newest before it, else of the oldest.

        Its mistakes go to `mistakes`, and the rest is used.
        """
        found = [
            (file, device)
            for file in self._files
            if file.vendor == vendor
            for device in file.devices
            if device.product == product
        ]
        older = [pair for pair in found if pair[1].revision <= revision]
        if not found:
            return None
        if older:
            file, device = max(older, key=lambda pair: pair[1].revision)
        else:
            file, device = min(found, key=lambda pair: pair[1].revision)
        read, mistakes = file.read_what_is_right(device)
        self.mistakes += [line for line in (*mistakes, *read.notes) if line not in self.mistakes]
        return read

    def why_not(self, vendor: int, product: int) -> str:
        """Return why there is no device of a vendor and product."""
        left_out = (
            f"; {len(self.mistakes)} things were left out, see above" if self.mistakes else ""
        )
        files = [file for file in self._files if file.vendor == vendor]
        if files:
            n = sum(len(file.devices) for file in files)
            return (
                f"none of the {n} devices of {files[0].vendor_name or 'this vendor'} has product "
                f"{product:#010x}{left_out}"
            )
        if self._files:
            return f"none of the {len(self._files)} ESI files is of vendor {vendor:#010x}{left_out}"
        return "no ESI file could be read" + left_out
