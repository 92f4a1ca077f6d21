"""
Sets of labels that hold the right one
======================================

A classifier always says one label, however little it knows. A conformal set says all labels that
are plausible for a row: one where classes are apart, both where they overlap or where a row is far
from all others. Whatever the distribution, nine of ten sets hold the right label on average.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from solution_paths import FullConformalClassifier, PathLogisticRegression, PathSVC

X, y = make_moons(120, noise=0.3, random_state=0)
X_new, y_new = make_moons(200, noise=0.3, random_state=1)
side = np.linspace(-2.0, 3.0, 21), np.linspace(-1.6, 2.1, 17)
grid = np.stack(np.meshgrid(*side), axis=-1).reshape(-1, 2)

# %%
# Each new row is added with each label, and the classifier is refitted to all rows: one short path
# for an SVM, a few steps of Newton's method for a logistic regression, with a proved gap. The
# p-value of a label is the share of rows whose margin is at most the new row's.

models = {
    "SVM, RBF kernel": PathSVC(C=1.0, kernel="rbf", gamma=1.0),
    "logistic regression": PathLogisticRegression(lam=1.0, l1_ratio=0.0),
}
figure, all_axes = plt.subplots(1, 2, figsize=(9.4, 3.9), sharey=True, layout="constrained")
for (name, estimator), axes in zip(models.items(), all_axes, strict=True):
    model = FullConformalClassifier(estimator, alpha=0.1).fit(X, y)
    p = model.p_values(X_new)
    covered = (p[np.arange(len(y_new)), y_new] > 0.1).mean()
    size = (p > 0.1).sum(axis=1).mean()
    print(f"{name}: {covered:.3f} hold the label, {size:.2f} labels in a set on average")
    inside = model.p_values(grid) > 0.1
    for labels, colour in (([0], "tab:blue"), ([1], "tab:orange"), ([0, 1], "0.75")):
        places = grid[(inside == np.isin([0, 1], labels)).all(axis=1)]
        words = " or ".join(map(str, labels))
        axes.plot(*places.T, "s", color=colour, alpha=0.45, markersize=6, label=words, mew=0)
        if len(labels) == 1:
            own = X[y == labels[0]]
            axes.plot(*own.T, "o", color=colour, markersize=3, markeredgecolor="black")
    axes.set(title=f"{name}: {100 * covered:.0f} % hold the label", xlabel="first column")
all_axes[0].set(ylabel="second column")
figure.legend(*all_axes[0].get_legend_handles_labels(), title="the set", loc="outside right center")

# %%
# What the gap of a logistic regression can't decide is counted, and all refits are certified.

found = model.labels(X_new)
print(f"{found.undecided.sum()} comparisons are undecided")
print(found.certify())
