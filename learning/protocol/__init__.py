"""What session and teacher say to each other: frozen records, requests, events, and their JSON form.

Imports nothing of learning and no torch.
"""
