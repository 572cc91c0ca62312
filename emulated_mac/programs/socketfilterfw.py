"""socketfilterfw(8), the Application Firewall: prints its state in the words of public outputs. No source says which
version changed the words; here 14 did. It blocks no connection.
"""

from .. import bsd_getopt, profiles
from ..kernel_client import call

OLD = {
    "--getblockall": ("Block all DISABLED! ", "Firewall is set to block all non-essential incoming connections"),
    "--getstealthmode": ("Stealth mode disabled", "Stealth mode enabled"),
}
NEW = {
    "--getblockall": ("Firewall has block all state set to disabled.", "Firewall has block all state set to enabled."),
    "--getstealthmode": ("Firewall stealth mode is off", "Firewall stealth mode is on"),
}
FAULTS = {"--getblockall": "firewall-block-all", "--getstealthmode": "firewall-stealth"}


def main(argv: list[str]) -> int:
    """Print the state that the option asks for."""
    states = NEW if profiles.current().number >= (14,) else OLD
    for word in argv:
        if word == "--getglobalstate":
            blocks, is_on = call("fault", name="firewall-block-all"), call("fault", name="firewall-on")
            state = 2 if blocks else 1 if is_on else 0
            print(f"Firewall is {'enabled' if state else 'disabled'}. (State = {state})")
        elif word in states:
            print(states[word][bool(call("fault", name=FAULTS[word]))])
        else:
            bsd_getopt.fail_as_not_emulated("socketfilterfw", word)
    return 0
