"""Picks, ratings and reasons: what the model makes of what the owner likes."""
