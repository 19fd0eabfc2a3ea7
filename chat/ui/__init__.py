"""User interfaces: the catalogue of components, trees of nodes, their differences, their HTML."""
