"""Practice on tasks: its speed, its gains, its alarms."""
