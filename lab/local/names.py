"""The names that the command line offers: it is read before it is known whether anything else of the lab is needed."""

HOSTS = ("client", "server")
GUEST_BACKENDS = ("kvm", "uml", "tcg")  # the best first
