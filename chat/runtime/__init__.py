"""Lets replies take effect: turns, statements, mounts, waits and feedback, without Django or a provider."""
