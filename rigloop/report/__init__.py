"""`report.html` of a run folder, section by section.

Start with `report.py`.
"""
