"""Differential privacy with the whole generalized Gaussian family of noise."""
