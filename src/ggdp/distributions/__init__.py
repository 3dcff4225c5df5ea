"""The laws of the noise."""
