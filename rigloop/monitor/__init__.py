"""One page that looks into a rig: `rigloop monitor`. Sources of cycles, envelopes, a session a page, the web server.

Begin with `source.py` (where cycles come from), then `session.py` (one page), then `app.py` (the web around it).
"""
