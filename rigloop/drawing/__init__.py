"""Pictures of mechanisms: `sketch` says what is where, `views` from which side, `paint` puts it on
paper, `labels` finds room for names, `motion` makes a mechanism move, `animate` films it.
"""
