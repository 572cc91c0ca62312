"""What to measure, and in which order: factors, cases, blocks, the plan and what it can tell."""
