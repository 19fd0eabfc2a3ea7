"""Requests to the open internet, and to nothing else."""
