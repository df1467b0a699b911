"""One small file per element of a mechanism."""
