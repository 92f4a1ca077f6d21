"""Models whose rows can be left out, and those whose rows can't."""

import solution_paths as paths

REFUSED = {  # whose losses are of pairs, of several decisions, of two groups, or constraints
    *("dm_drsvm_lam1", "dm_drsvm_lam2", "fused_lasso", "fused_signal", "multicategory"),
    *("multicategory_kernel", "nu_svm", "nu_svm_kernel", "pin_twin_C", "pin_twin_tau"),
    *("ranking", "ranking_kernel", "svor_explicit", "svor_implicit_kernel"),
    *("quantiles_together_l1", "quantiles_together_l2"),
}
REFITS = {  # models with one solution: functions of the rows that are kept, and a parameter
    "svm": (lambda X, u, y: paths.svm_path(X, y), 0.8),
    "svr": (lambda X, u, y: paths.svr_path(X, u), 0.8),
    "elastic net": (lambda X, u, y: paths.elastic_net_path(X, u, lam2=0.5), 0.7),
    "squared hinge": (lambda X, u, y: paths.almost_quadratic_path(X, y, loss="squared_hinge"), 0.9),
    "pinball SVM": (lambda X, u, y: paths.pin_svm_path(X, y, tau=0.5), 0.8),
    "epsilon": (lambda X, u, y: paths.svr_path(X, u, vary="epsilon", C=2.0), 0.3),
}
