"""What several benchmarks need: the report, a scratch home, the corpus, processes."""
