"""The environment variables by which `lab notebook` passes choices to a notebook."""

RUN, OTHER_RUN = "LAB_RUN", "LAB_OTHER_RUN"  # the run, and the run that it is compared with
NAMES, AS_THEY_ARE = "LAB_NAMES", "shown"  # whether names of hosts, accounts and shares are shown
FOLDER = "LAB_FOLDER"  # where `lab notebook` was called, because cells run in an empty folder
