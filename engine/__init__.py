"""A language model that runs here: ids in, ids and probabilities out."""
