"""`rigloop runs`, `show` and `diff`: run folders side by side, their tags, and which of them are kept.

Start with `found.py`.
"""
