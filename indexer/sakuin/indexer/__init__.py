"""Documents → generations → search. No HTTP, no environment variable; engines behind one contract."""
