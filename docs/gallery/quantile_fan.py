"""
A fan chart from every quantile, and what to do where lines cross
=================================================================

How much does a disease progress in a year, given the body mass index? Not only on average: the
larger the index, the wider the spread. Quantile regressions on a spline say so, and a path has all.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold
from sklearn.preprocessing import SplineTransformer, scale

from solution_paths import PathQuantileRegressor

X, y = load_diabetes(return_X_y=True, scaled=False)
bmi, folds = X[:, 2:3], KFold(5, shuffle=True, random_state=0)
spline = SplineTransformer(n_knots=7, degree=3, include_bias=False).fit(bmi)

# %%
# One weight of the ridge for five quantiles, chosen among all: the folds' mean pinball loss is an
# exact function of it.

levels = (0.05, 0.25, 0.5, 0.75, 0.95)
model = PathQuantileRegressor(quantiles=levels, cv=folds).fit(spline.transform(bmi), y)
print(f"lam = {model.lam_:.3g}, mean pinball loss {model.cv_error_:.3f}; {model.path_}")

# %%
# The predicted distributions know all quantiles, not five. Their means and scores are exact
# integrals. Left: what 50 and 90 % of patients are expected to lie in; right: the distribution
# functions of three of them.

places = np.linspace(*np.quantile(bmi, [0.01, 0.99]), 160)[:, None]
fan = model.predict_distribution(spline.transform(places))
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(bmi, y, ".", color="0.55", markersize=3, zorder=3)
for coverage, shade in ((0.9, 0.22), (0.5, 0.45)):
    low, high = fan.interval(coverage).T
    share = f"{100 * coverage:.0f} %"
    left.fill_between(places[:, 0], low, high, color="tab:blue", alpha=shade, lw=0, label=share)
left.plot(places, fan.quantile(0.5), color="tab:blue", label="median")
left.plot(places, fan.mean(), "--", color="tab:orange", label="mean")
left.set(xlabel="body mass index", ylabel="progression after a year")
left.legend(loc="upper left")
values = np.linspace(0, 360, 400)
for own in (21.0, 27.0, 35.0):
    one = model.predict_distribution(spline.transform([[own]]))
    right.plot(values, one.cdf(values[None, :])[0], label=f"index {own:g}")
right.set(xlabel="progression after a year", ylabel="probability of less")
right.legend(loc="lower right")

# %%
# Each line is fitted by itself, so that some cross: here of ten measurements of 300 patients. What
# is predicted is rearranged, exactly. Fitted together, subject to their order at all training rows,
# none cross there.

levels, rows = np.linspace(0.05, 0.95, 10), scale(X)
for noncrossing in (False, True):
    own = PathQuantileRegressor(1e-3, quantiles=levels, noncrossing=noncrossing)
    own.fit(rows[:300], y[:300])
    score = own.predict_distribution(rows[300:]).crps(y[300:]).mean()
    crossed = np.count_nonzero(own.crossings(rows[300:]))
    how = "together" if noncrossing else "by themselves"
    print(f"{how}: lines cross at {own.crossings_} training and {crossed} new rows")
    print(f"mean CRPS of the new rows: {score:.2f}")

# %%
# All of this rests on the path being optimal, which other code checks.

print(model.path_.certify())
