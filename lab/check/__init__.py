"""The doctor: what is wrong with two hosts and their link, and how to mend it."""
