"""Statistics of trials: medians, effects, interactions, shares of variation, drift, comparisons of runs; intervals.

Functions take the frame of :func:`lab.results.run_folder.load`, its :func:`encode`-d form, or the :class:`Grid` of
:func:`grid`, on which comparisons within blocks are computed. Only trials with status ``ok`` are averaged; void and
failed ones are counted. With too few trials an interval is NaN.
"""

from lab.base.units import size_label as size_label
from lab.design.stopping import INTERVAL_BLOCKS as INTERVAL_BLOCKS
from lab.stats.anova import BLOCK as BLOCK
from lab.stats.anova import REST as REST
from lab.stats.anova import Shares as Shares
from lab.stats.anova import shares as shares
from lab.stats.drift_slopes import Drift as Drift
from lab.stats.drift_slopes import drift as drift
from lab.stats.drift_slopes import from_own_case as from_own_case
from lab.stats.effect_ratios import block_effects as block_effects
from lab.stats.effect_ratios import block_interactions as block_interactions
from lab.stats.effect_ratios import compared_factors as compared_factors
from lab.stats.effect_ratios import comparisons as comparisons
from lab.stats.effect_ratios import effect_table as effect_table
from lab.stats.effect_ratios import effects as effects
from lab.stats.effect_ratios import interaction_table as interaction_table
from lab.stats.effect_ratios import interactions as interactions
from lab.stats.encoding import Encoded as Encoded
from lab.stats.encoding import Trials as Trials
from lab.stats.encoding import encode as encode
from lab.stats.encoding import grid as grid
from lab.stats.encoding import measured as measured
from lab.stats.encoding import transfers as transfers
from lab.stats.factors import EVERY as EVERY
from lab.stats.factors import FACTORS as FACTORS
from lab.stats.factors import POOLED as POOLED
from lab.stats.factors import Cells as Cells
from lab.stats.factors import Level as Level
from lab.stats.factors import Row as Row
from lab.stats.factors import change_label as change_label
from lab.stats.factors import factor_label as factor_label
from lab.stats.factors import factors_of as factors_of
from lab.stats.factors import first_level as first_level
from lab.stats.factors import level_label as level_label
from lab.stats.factors import row_label as row_label
from lab.stats.factors import rows_of as rows_of
from lab.stats.factors import term_label as term_label
from lab.stats.intervals import interval_rank as interval_rank
from lab.stats.intervals import median as median
from lab.stats.intervals import median_interval as median_interval
from lab.stats.intervals import percent_change as percent_change
from lab.stats.intervals import sort_by_group as sort_by_group
from lab.stats.leaders import MEASURED as MEASURED
from lab.stats.leaders import Leaders as Leaders
from lab.stats.leaders import leaders as leaders
from lab.stats.link_ceilings import LOWER_SHOT as LOWER_SHOT
from lab.stats.moderation import ENOUGH_BLOCKS as ENOUGH_BLOCKS
from lab.stats.precision import compared_label as compared_label
from lab.stats.precision import wide_effects as wide_effects
from lab.stats.speed_matrix import Grid as Grid
from lab.stats.summary_table import ceilings as ceilings
from lab.stats.summary_table import file_rates as file_rates
from lab.stats.summary_table import provenance as provenance
from lab.stats.summary_table import summary as summary
