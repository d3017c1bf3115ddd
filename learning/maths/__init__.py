"""Pure functions of tensors: no model, device, logger or config."""
