"""Draw docs/images/cost_path.png: the picture of the README."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from solution_paths import PathSVC

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = PathSVC(cv=5).fit(X / X.max(), y)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
model.plot(ax=left)
left.get_legend().set_loc("lower left")
left.set_title(f"30 coefficients, {len(model.path_.breakpoints)} breakpoints")
model.cv_path_.plot(right, parameter="C")
right.set(ylabel="error of 5 folds", title="cross-validation: exact steps", ylim=(0, 0.2))
figure.suptitle("An SVM of the breast cancer data for every cost C")
figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)
