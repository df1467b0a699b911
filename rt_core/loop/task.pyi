"""The thread of one task; for `Loop` only, there is nothing here for Python."""
