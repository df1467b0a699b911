"""The files of the page: whole, small, without a foreign address, and without markup made of names."""

import gzip
import hashlib
import re
from importlib.resources import files

STATIC = files("rigloop.monitor") / "static"
OWN = [
    path
    for folder in (STATIC, STATIC / "js", STATIC / "js" / "painting")
    for path in folder.iterdir()
    if path.name.endswith((".js", ".css", ".html"))
]


def test_vendored_files_are_those_of_their_packages():
    text = (STATIC / "vendor" / "HASHES.txt").read_text()
    listed = dict(re.findall(r"^([0-9a-f]{64})  (\S+)$", text, re.MULTILINE))
    there = {path.name for path in (STATIC / "vendor").iterdir()} - {"HASHES.txt"}
    assert set(listed.values()) == there
    for digest, name in listed.items():
        assert hashlib.sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() == digest
    assert {"three-LICENSE.txt", "uPlot-LICENSE.txt"} <= there


def test_no_file_of_the_page_makes_markup_or_names_another_server():
    for path in OWN:
        text = path.read_text()
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "https:",
        ):
            assert word not in text, f"{path.name}: {word}"
    page = (STATIC / "page.html").read_text()
    assert not re.search(r"<script(?![^>]* src=)|\son\w+=|style=", page)


def test_all_that_is_sent_is_at_most_500_kb_compressed():
    sent = [*OWN, *(STATIC / "vendor").iterdir()]
    size = sum(len(gzip.compress(p.read_bytes())) for p in sent if not p.name.endswith(".txt"))
    assert size < 500_000


def test_every_button_and_field_of_the_page_has_a_name():
    page = (STATIC / "page.html").read_text()
    for tag in re.findall(r"<(?:input|select|canvas)\b[^>]*>", page):
        place = page.index(tag)
        is_labelled = page.rfind("<label", 0, place) > page.rfind("</label>", 0, place)
        is_decoration = 'aria-hidden="true"' in tag
        assert is_labelled or is_decoration or "aria-label" in tag, tag
