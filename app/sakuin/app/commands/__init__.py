"""One module a command: it reads its arguments, calls what does the work, and prints."""
