"""The command line's manners: screens, answers in JSON, exit codes, signals, closed streams.

Start with `answers.py`.
"""
