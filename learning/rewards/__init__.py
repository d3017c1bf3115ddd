"""What an answer is worth: tasks whose answers a program can check, and a model of the owner's taste.

Tasks (task, registry, tasks/), checks in verifiers/ and the isolation of model-written text in sandbox/ load
no torch and import learning.data alone. The taste (reward_*) reads the journal and is kept in a model's
folder; of it only reward_data and reward_report load no torch.
"""
