"""The declarations of all components, one module per group."""
