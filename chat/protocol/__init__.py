"""The reply protocol: Markdown in, events, statements and values out. Pure code, no I/O, no Django."""
