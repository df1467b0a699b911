"""Pictures of mechanisms: `places` says what is where, as the shapes of a `sketch`; `views` from
which side; `paint` puts it on paper, `labels` finds room for names, `page` makes a whole picture of
it; `forces` says where forces act; `motion` makes a mechanism move, and `film` films it.

Start with `page.py`.
"""
