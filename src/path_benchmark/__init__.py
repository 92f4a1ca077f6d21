"""The benchmark: data sets, outside solvers, runs, papers and reports around `solution_paths`."""
