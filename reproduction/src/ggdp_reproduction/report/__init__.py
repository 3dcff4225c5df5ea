"""The files of a run: the HTML report, the claims, and all numbers."""
