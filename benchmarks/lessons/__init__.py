"""Benchmarks that teach many lessons in a row and measure what is known and forgotten, and the time."""
