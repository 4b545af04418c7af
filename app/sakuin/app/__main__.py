"""`python -m sakuin.app` is the `sakuin` command."""

from sakuin.app.entry import main

if __name__ == "__main__":
    main()
