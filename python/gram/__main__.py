"""python -m gram: the command."""

from gram.command import main

main()
