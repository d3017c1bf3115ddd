"""The process that holds the model, the one that fetches another, and their supervisors.

Imports text; worker.main and worker.fetch alone load torch.
"""
