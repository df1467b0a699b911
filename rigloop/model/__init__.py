"""`rigloop model ...`: show, check, generate and import mechanisms."""
