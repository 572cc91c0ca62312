"""What the link and the store carry by themselves, and what others use of the hosts."""
