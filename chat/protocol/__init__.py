"""The reply protocol: Markdown in, events, statements and values out. Pure code, no I/O, no Django.

A reply goes through `TextGuard` and `FenceParser`, the code of each run block through a `StatementSplitter`,
the JSON of each data block through a `PartialJSON`. All take pieces of any size and never raise.
"""
