# One page for a suite: every table, figure and claim of every paper, with settings and assumptions.
rule page:
    input:
        lambda wildcards: [
            target
            for paper in PLAN.papers_of(wildcards.suite)
            for target in PLAN.paper_targets(wildcards.suite, paper)(wildcards)
        ],
        depends=PLAN.page_depends,
    output:
        report(
            f"{SHOWN}/report.html",
            caption="../report/page.rst",
            category="The page",
            labels={"suite": "{suite}", "what": "everything on one page"},
        ),
    log:
        "logs/{suite}/report.log",
    params:
        about=PLAN.about_page,
    script:
        "../scripts/report_suite.py"


# What the page says beside its papers' outputs, by content: see rule depends.
rule page_depends:
    output:
        touch(f"{SHOWN}/.depends/{{part}}-{{digest}}"),
    localrule: True


# Whatever else is asked for by a plain name.
rule unknown:
    input:
        PLAN.no_target,
    output:
        "{target}",
    localrule: True
