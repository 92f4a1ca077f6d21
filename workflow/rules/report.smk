# One page for a suite: every table, figure and claim of every paper, with settings and assumptions.
rule page:
    input:
        lambda wildcards: [
            target
            for paper in papers_of(wildcards.suite)
            for target in paper_targets(wildcards.suite, paper)(wildcards)
        ],
    output:
        report(
            f"{RESULTS}/{{suite}}/report.html",
            caption="../report/page.rst",
            category="The page",
            labels={"suite": "{suite}", "what": "everything on one page"},
        ),
    log:
        "logs/{suite}/report.log",
    params:
        about=lambda wildcards: config["suites"][wildcards.suite],
        papers=lambda wildcards: papers_of(wildcards.suite),
        missing=lambda wildcards: not_at_hand(wildcards.suite),
        command=lambda wildcards: command(wildcards.suite),
    script:
        "../scripts/report_suite.py"
