"""One lesson after another: what is learned, what is lost, what it costs."""
