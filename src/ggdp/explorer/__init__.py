"""The local web page of ``ggdp explore``; it needs the extra `explorer`."""
