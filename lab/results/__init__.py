"""What was measured: a run folder, its trials, and the data frame that they make."""

from lab.results.dataframe import frame as frame
from lab.results.dataframe import observed as observed
from lab.results.run_folder import RunFolder as RunFolder
from lab.results.run_folder import load as load
from lab.results.run_folder import newest as newest
from lab.results.trial import Trial as Trial
