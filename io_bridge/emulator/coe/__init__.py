"""The CoE server of an emulated device: object dictionary, SDO transfers, information service, mapping.

Start with `server.pyx`.
"""
