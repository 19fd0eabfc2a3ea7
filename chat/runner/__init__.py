"""Runs conversations: one runner each over all processes, holding a lease in the database."""
