__version__ = "0.2.0.dev0"

from tsnmf import constraints, datasets, metrics
from tsnmf.constraints import Constraints
from tsnmf.model import TSNMF
