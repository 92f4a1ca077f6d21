"""
Probabilities that agree with the decision
==========================================

``SVC(probability=True)`` fits a sigmoid to decisions of other folds, so that its probabilities may
contradict its labels. The quantile SVM decides whether P(Y = 1 given x) exceeds tau, and a path
decides for *every* tau: the probability is read off, and says the same as the label.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from solution_paths import QuantileSVC

r = np.random.default_rng(4)


def probability(x):
    return 0.5 + 0.45 * np.sin(2.4 * x) * np.exp(-0.2 * x)


X = r.uniform(0.0, 5.0, size=(300, 1))
y = np.where(r.uniform(size=300) < probability(X[:, 0]), "yes", "no")
places = np.linspace(0.0, 5.0, 400)[:, None]

# %%
# Of three weights of the ridge the one with the least log loss in five folds is taken; the other
# machine's cost is the one of three that errs least. Platt's sigmoid is a function of one decision
# value, so that its probabilities move with the machine's margin. Both are about as near to the
# truth.

lams, gamma = (3e-4, 1e-3, 3e-3), 1.0
model = QuantileSVC(probability=True, lam=lams, kernel="rbf", gamma=gamma).fit(X, y)
print(f"lam = {model.lam_:g}; {model.crossings_} rows at which machines of other tau disagree")
costs = [1.0 / (lam * len(y)) for lam in lams]
machine = GridSearchCV(SVC(kernel="rbf", gamma=gamma), {"C": costs}).fit(X, y)
sigmoid = CalibratedClassifierCV(machine, method="sigmoid", cv=5).fit(X, y)
own, platt = (fitted.predict_proba(places)[:, 1] for fitted in (model, sigmoid))
for name, p in (("paths", own), ("sigmoid", platt)):
    print(f"{name}: off by {np.abs(p - probability(places[:, 0])).mean():.3f} on average")

_, axes = plt.subplots(figsize=(6.6, 3.6), layout="constrained")
axes.plot(places, probability(places), "--", color="black", label="true")
axes.plot(places, own, color="tab:blue", label="quantile SVM, all tau")
axes.plot(places, platt, color="tab:orange", label="SVM and Platt's sigmoid")
axes.plot(X, np.where(y == "yes", 1.03, -0.03), "|", color="0.5", markersize=5)
axes.axhline(0.5, color="0.7", linewidth=0.8)
axes.set(xlabel="x", ylabel="P(yes given x)", ylim=(-0.08, 1.08))
axes.legend(loc="lower right", fontsize=8)

# %%
# Labels are those whose probability is at least 1/2, at every row. Costs that become known later
# need no other fit.

p = model.predict_proba(X)[:, 1]
print(f"labels that agree: {((p >= 0.5) == (model.predict(X) == 'yes')).mean():.0%}")
differ = machine.predict(X) != np.where(sigmoid.predict_proba(X)[:, 1] >= 0.5, "yes", "no")
print(f"labels of the SVM that its sigmoid contradicts: {differ.sum()} of {len(y)}")
dear = model.predict(X, cost=[[0, 1], [2, 0]])
print(f"'yes' where to overlook it costs twice as much: {(dear == 'yes').mean():.0%}")
print(model.path_.certify())
