"""The thread above all tasks; for `Loop` only, there is nothing here for Python."""
