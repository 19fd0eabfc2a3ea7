"""What staff see of conversations."""
