"""What is changed on a host, and put back."""
