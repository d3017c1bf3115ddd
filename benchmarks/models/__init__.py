"""Training, sampling and tokenizers of whole models, against other programs."""
