"""Tables, verdicts and pages for people: one way to make each, on a terminal and in a page.

Start with `tables.py`: a record of columns and rows that a terminal, a page and a document show.
`verdict.py` ends a command, `pages.py` fills the templates, `numbers.py` writes what stands in them.
"""
