"""Documents → generations → search; engines behind one contract. No HTTP, no environment."""
