# One page for a suite: every table, figure and claim of every paper, with the assumptions.
rule suite_report:
    input:
        lambda wildcards: [
            target
            for paper in config["suites"][wildcards.suite]
            for target in paper_targets(wildcards.suite, paper)
        ],
    output:
        f"{RESULTS}/{{suite}}/report.html",
    log:
        "logs/{suite}/report.log",
    params:
        config=config,
        papers=lambda wildcards: list(config["suites"][wildcards.suite]),
    script:
        "../scripts/report_suite.py"
