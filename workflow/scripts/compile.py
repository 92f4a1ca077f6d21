"""Compile the library's inner loops once, before jobs run side by side; numba keeps the result."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from solution_paths import quantile_svm_path
from solution_paths.papers.weighted_svm.experiments import warm_up

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
for features, kernel in ((X, "linear"), (sp.csr_matrix(X), "linear"), (X, "rbf")):
    path = quantile_svm_path(features, y, 1e-2, kernel=kernel)
    path.certify()
    path.crossings(features)
warm_up()
text = "compiled: linear (dense, sparse), rbf, free bias; SMO\n"
Path(snakemake.log[0]).write_text(text)
Path(snakemake.output[0]).write_text(text)
