"""Runs the agent's code: a Python subset in its own worker processes, with a namespace that can be saved."""
