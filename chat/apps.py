"""The chat app."""

import atexit

from django.apps import AppConfig


class ChatConfig(AppConfig):
    """Registers the system checks when the apps are loaded."""

    name = "chat"
    verbose_name = "Chat with the agent"

    def ready(self) -> None:
        """Import what registers itself."""
        from chat import checks, cleanup  # noqa: F401
        from chat.runner.database import close_pools

        atexit.register(close_pools)
