"""Tasks whose answers a program can check: what a task is, and the registry of tasks.

No torch; imports data. Tasks are in tasks/, checks in verifiers/, the walls around model text in
sandbox/.
"""
