"""Chat with an agent that answers with living user interfaces."""
