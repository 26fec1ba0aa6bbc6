__version__ = "0.1.0"

from tsnmf import constraints, metrics
from tsnmf.constraints import Constraints
from tsnmf.model import TSNMF
