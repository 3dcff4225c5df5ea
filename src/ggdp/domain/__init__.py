"""What is declared in public about a table: columns, levels, bins, periods and ranges."""
