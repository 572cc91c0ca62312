"""The scenarios' attacks in further forms."""

from scenarios import test_local_attackers as attackers
from scenarios import test_lying_hosts as liars
from scenarios import test_runs_from_elsewhere as elsewhere
from support.again import again

test_a_run_under_further_attacks = again(
    attackers.test_a_run_under_attack_gives_nothing_of_roots_away, "attack", "first", "plant"
)
test_nobody_can_plant_where_another_account_writes = again(
    attackers.test_nobody_else_can_plant_in_the_folder_of_a_share_that_was_there, "writer", "www-data"
)
test_further_lies = again(liars.test_a_lying_host_gets_nowhere, "seed", 2, 3, 4)
test_a_run_of_somebody_else = again(
    elsewhere.test_a_run_of_somebody_else_runs_nothing_on_the_hosts,
    "host, is_command",
    ("client", False),
    ("server", True),
)
test_further_damage_to_a_journal = again(
    elsewhere.test_a_run_with_a_damaged_journal_is_restored_by_hosts_and_resumed, "damage", "gone", "cut"
)
