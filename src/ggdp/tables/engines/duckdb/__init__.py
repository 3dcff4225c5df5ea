"""DuckDB: files and streams, counted in a private database that trusts no statistics and writes no file."""
