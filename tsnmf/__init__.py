__version__ = "0.1.0"

from tsnmf import constraints, datasets, metrics
from tsnmf.constraints import Constraints
from tsnmf.model import TSNMF
