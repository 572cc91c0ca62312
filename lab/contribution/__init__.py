"""A run as a contribution to a collection: written without names, and verified where it comes from elsewhere."""
