"""Probabilities of `QuantileSVC` beside Platt's sigmoid and isotonic regression.

    python measurements/calibration.py [--splits 10]

Half of the rows train and half test, columns scaled to [0, 1] by the training rows, RBF kernel of
gamma 1 / d. `QuantileSVC` has lam as it is by default, and the one of nine with the least log loss
in five folds of the training rows. The others are scikit-learn's CalibratedClassifierCV, five
folds, around an SVC whose C is the one of nine with the most right labels in five folds.
Probabilities are kept within [c, 1 - c] where c is 1 / (2 n), as in the quantile paper's tables.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from path_benchmark.data import load
from solution_paths import QuantileSVC

SETS = ("heart", "breast_cancer", "ionosphere", "sonar")
LAMS = np.logspace(-5, -1, 9)


def methods(n: int, d: int) -> dict[str, object]:
    """Return classifiers with probabilities, for n rows of d columns."""
    rbf = {"kernel": "rbf", "gamma": 1.0 / d}
    machine = GridSearchCV(SVC(**rbf), {"C": 1.0 / (LAMS * n)})
    return {
        "lam = .01": QuantileSVC(probability=True, **rbf),
        "lam by log loss": QuantileSVC(probability=True, lam=LAMS, **rbf),
        "Platt": CalibratedClassifierCV(machine, method="sigmoid", cv=5),
        "isotonic": CalibratedClassifierCV(machine, method="isotonic", cv=5),
    }


def main() -> None:
    """Print log loss and Brier score, means of all splits with their standard errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=10)
    splits = parser.parse_args().splits
    for name in SETS:
        data = load(name)
        X, y = np.asarray(data.X, dtype=float), (np.asarray(data.y) > 0).astype(int)
        found: dict[str, list[tuple[float, float]]] = {}
        folds = StratifiedShuffleSplit(splits, test_size=0.5, random_state=0)
        for train, test in folds.split(X, y):
            scaler = MinMaxScaler().fit(X[train])
            A, B, c = scaler.transform(X[train]), scaler.transform(X[test]), 0.5 / len(train)
            for method, model in methods(*A.shape).items():
                p = np.clip(model.fit(A, y[train]).predict_proba(B)[:, 1], c, 1.0 - c)
                scores = log_loss(y[test], p), brier_score_loss(y[test], p)
                found.setdefault(method, []).append(scores)
        for method, own in found.items():
            mean, error = np.mean(own, axis=0), np.std(own, axis=0, ddof=1) / np.sqrt(splits)
            print(
                f"{name}, {method}: log loss {mean[0]:.3f} +- {error[0]:.3f}, "
                f"Brier {mean[1]:.4f} +- {error[1]:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
