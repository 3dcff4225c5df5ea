"""From a goal to a certified scale."""
