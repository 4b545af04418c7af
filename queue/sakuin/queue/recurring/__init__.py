"""Recurring tasks: what is to be pushed again and again, by which clock, each time once."""
