"""The application: command line, composition root, reports."""
