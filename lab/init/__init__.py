"""`lab init`: what can be found of hosts and share, six questions, and the hosts file that follows from them."""
