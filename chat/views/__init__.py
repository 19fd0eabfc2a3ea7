"""Views, one module per kind of request."""
