"""The scope of a page: captures of whatever the page looks at, measured, stored and compared.

Begin with `page_scope.py`.
"""
