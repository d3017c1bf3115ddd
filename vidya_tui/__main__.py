"""`python -m vidya_tui`."""

from vidya_tui.cli import main

main()
