"""Folders of models: weights, snapshots, import and export, growth.

Imports journal, protocol and home.
"""
