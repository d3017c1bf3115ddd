"""Widgets: one control a file. Messages go up, plain values come down."""
