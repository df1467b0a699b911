"""The page of the service is what the structs of the protocol say."""

from pathlib import Path

from rigloop.protocol.codec import commands
from rigloop.protocol.page import page

PAGE = Path(__file__).parents[4] / "docs" / "service.md"


def test_the_page_is_the_one_that_the_structs_make():
    assert PAGE.read_text() == page(), "run `python -m rigloop.protocol.page > docs/service.md`"


def test_the_page_has_every_command_with_a_sentence():
    text = page()
    for name, kind in commands().items():
        assert f"`{name}`{'**' if kind.controls else ''}: {kind.__doc__.split()[0]}" in text
