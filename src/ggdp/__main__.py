"""``python -m ggdp`` is the command line."""

from ggdp.cli import main

main()
