"""`lab measure`: one share, from the machine that one sits at, with or without a login on the server."""
