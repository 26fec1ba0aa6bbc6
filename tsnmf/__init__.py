"""Clustering with must-link and cannot-link pairs by symmetric NMF and low-rank tensors

>>> from sklearn.datasets import load_iris
>>> from tsnmf import TSNMF
>>> X, y = load_iris(return_X_y=True)
>>> model = TSNMF(3, random_state=0).fit(X, must_link=[(0, 1)], cannot_link=[(0, 50), (50, 100)])
>>> model.labels_.shape
(150,)

`help(TSNMF)` explains its parameters and what a fit leaves behind; `TSNMF`, `Constraints`, `datasets` and `metrics` are here,
everything else is in its module: `help('tsnmf.baselines')`.
"""
__version__ = "0.2.0"

import sys

from tsnmf import constraints, datasets, metrics
from tsnmf.constraints import Constraints
from tsnmf.docs import document
from tsnmf.model import TSNMF

document(*[name for name in sys.modules if name.startswith('tsnmf.') and name != 'tsnmf._modidx'])
