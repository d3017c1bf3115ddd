"""How well a model talks, untaught and in context."""
