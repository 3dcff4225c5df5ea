"""Totals of several releases."""
