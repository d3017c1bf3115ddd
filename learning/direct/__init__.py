"""Path A: the network is the policy, and its weights are stepped directly."""
