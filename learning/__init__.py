"""Everything that changes the weights, and the journal that says why."""
