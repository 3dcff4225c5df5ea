"""Exact draws of noise from the operating system's randomness."""
