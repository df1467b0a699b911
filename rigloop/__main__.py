"""`python -m rigloop`: the same as the `rigloop` command."""

from rigloop.cli import main

if __name__ == "__main__":
    main()
