"""Parameters that declarations of blocks under test have in common."""

WEIGHTS_AND_MODE = """[parameters.weights]
type = "list"
about = "Of each."
[parameters.mode]
type = "choice"
about = "Fails or not."
choices = ["work", "fail", "odd"]
default = "work"
"""
