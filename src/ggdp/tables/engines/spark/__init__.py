"""Spark: frames and files counted by a session, and large tables drawn and written by its executors."""
