"""Names of the channel layer's groups."""

from uuid import UUID


def frame_group(conversation: UUID) -> str:
    """Everybody who watches a conversation."""
    return f"conversation-{conversation.hex}"


def runner_group(conversation: UUID) -> str:
    """The runner that drives a conversation, wherever it is."""
    return f"runner-{conversation.hex}"


def user_group(user_id: int) -> str:
    """All sockets of a user."""
    return f"user-{user_id}"
