"""R's svmpath (Hastie, Rosset, Tibshirani and Zhu), where Rscript and the package are there."""

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from path_benchmark.solvers import Answer

from . import Run

NAME = "R svmpath"
HOW = "svmpath(X, y) in R, timed inside R by proc.time; judged at each of its own breakpoints"
SCRIPT = """
library(svmpath)
folder <- commandArgs(TRUE)[1]
d <- as.matrix(read.csv(file.path(folder, "data.csv"), header = FALSE))
gamma <- scan(file.path(folder, "gamma"), quiet = TRUE)
x <- d[, -1]; y <- d[, 1]
begin <- proc.time()
p <- if (gamma > 0) {
  svmpath(x, y, kernel.function = radial.kernel, param.kernel = gamma)
} else {
  svmpath(x, y)
}
seconds <- proc.time() - begin
cat(seconds[["elapsed"]], seconds[["user.self"]], file = file.path(folder, "seconds"))
writeBin(c(length(p$lambda), p$lambda, p$alpha0, as.vector(p$alpha)), file.path(folder, "path"))
"""


@cache
def version() -> str:
    """Version of the R package, or ""."""
    if not shutil.which("Rscript"):
        return ""
    ask = ["Rscript", "-e", 'cat(as.character(packageVersion("svmpath")))']
    found = subprocess.run(ask, capture_output=True, text=True)
    return f"svmpath {found.stdout}" if found.returncode == 0 else ""


def refuses(problem) -> str:
    """Say why not."""
    if not shutil.which("Rscript"):
        return "Rscript is not on the PATH"
    if not version():
        return "the R package svmpath is not installed"
    return "" if problem.kind == "C" else "has the path in C only"


def solve(problem) -> Run:
    """Call R; alpha in [0, 1] there is alpha / C here, with C = 1 / lambda."""
    with tempfile.TemporaryDirectory() as folder:
        table = np.column_stack([problem.y, problem.X])
        np.savetxt(Path(folder, "data.csv"), table, delimiter=",", fmt="%.17g")
        Path(folder, "gamma").write_text(str(problem.gamma if problem.kernel == "rbf" else 0.0))
        Path(folder, "path.R").write_text(SCRIPT)
        subprocess.run(["Rscript", f"{folder}/path.R", folder], check=True, capture_output=True)
        wall, cpu = map(float, Path(folder, "seconds").read_text().split())
        count, *rest = np.fromfile(Path(folder, "path"))
    k = int(count)
    lam, b, alpha = np.split(np.array(rest), [k, 2 * k])
    alpha = alpha.reshape(k, -1)  # R stores columns, one for each breakpoint
    C = 1.0 / lam
    return Run(C, lambda i: Answer(alpha=alpha[i] * C[i], b=b[i] * C[i]), k, (wall, cpu))
