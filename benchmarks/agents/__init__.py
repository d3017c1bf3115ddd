"""Agents in small worlds."""
