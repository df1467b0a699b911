"""One page that looks into a rig: `rigloop monitor`. A session a page, its scope, the web server, and other doors.

Begin with `sources/` (where cycles come from), then `session.py` (one page), then `app.py` (the web around it).
"""
