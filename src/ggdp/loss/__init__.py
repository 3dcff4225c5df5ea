"""The privacy loss of a noise law: rigorous enclosures of delta(epsilon) and of pure losses."""
