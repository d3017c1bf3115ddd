"""Entry point to all learning: requests in, events out, three threads.

Imports everything below.
"""
