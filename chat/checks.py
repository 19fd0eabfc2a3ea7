"""System checks: each wrong setting is named, with its remedy."""
