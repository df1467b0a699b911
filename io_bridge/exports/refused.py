"""The error of an export that cannot be."""


class ExportError(ValueError):
    """Nothing was written; the message names the file, the reason and the remedy."""
