"""The mapping of a log with a time and an angle."""

MAPPING = """
name = "plain"
title = "plain"
header = ["t", "a"]
[time]
column = "t"
unit = "s"
[angle]
column = "a"
unit = "counts"
counts_per_rev = 1000
"""
