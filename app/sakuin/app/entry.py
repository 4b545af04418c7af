"""Where the `sakuin` program begins: light, so that Ctrl-C is quiet from the first moment on."""

import sys


def main() -> None:
    """Run the command line; an interrupt while it is still being imported is no traceback."""
    try:
        from sakuin.app.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
