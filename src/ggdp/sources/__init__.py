"""Counting where the data live."""
