"""The Django project around the chat."""
