"""What checks answers to tasks: the verifiers, and the sandbox that runs programs."""
