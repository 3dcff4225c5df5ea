"""Small bundled tables."""
