"""Tables beside the published ones, figures, the page of a suite, and its scientific checks."""
