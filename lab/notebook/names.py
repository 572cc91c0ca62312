"""What a notebook finds in its environment, where `lab notebook` has put it."""

RUN, OTHER_RUN = "LAB_RUN", "LAB_OTHER_RUN"  # the run that is meant, and the one that it is compared with
NAMES, AS_THEY_ARE = "LAB_NAMES", "shown"  # whether names of hosts, accounts and shares are left in what is shown
FOLDER = "LAB_FOLDER"  # where `lab notebook` was called: cells run in an empty folder
