# One page for a suite: every table, figure and claim of every paper, with the assumptions.
rule suite_report:
    input:
        lambda wildcards: [
            target
            for paper in papers_of(wildcards.suite)
            for target in paper_targets(wildcards.suite, paper)
        ],
    output:
        f"{RESULTS}/{{suite}}/report.html",
    log:
        "logs/{suite}/report.log",
    params:
        papers=lambda wildcards: {name: config[name] for name in papers_of(wildcards.suite)},
        missing=lambda wildcards: not_at_hand(wildcards.suite),
    script:
        "../scripts/report_suite.py"
