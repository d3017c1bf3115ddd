"""Practice on tasks: its speed, its gains, its verifiers and their sandbox."""
