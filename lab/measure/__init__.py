"""`lab measure`: one share, as the machine sees it that the lab runs on, with or without a login on the server."""
