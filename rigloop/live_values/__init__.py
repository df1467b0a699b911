"""Values that change while a rig runs: who writes them, what is refused, and the journal of every change.

Start with `writer.py`. The limits hold in the cycle, too: `rigloop/blocks/library/live` and `kinds/stimulus.py`.
"""
