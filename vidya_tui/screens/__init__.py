"""Screens: each arranges widgets and carries out what the owner asks for."""
