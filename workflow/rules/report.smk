# One page for a suite: every table, figure and claim of every paper, with settings and assumptions.
rule page:
    input:
        lambda wildcards: [
            target
            for paper in papers_of(wildcards.suite)
            for target in paper_targets(wildcards.suite, paper)(wildcards)
        ],
        depends=page_depends,
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
        about=about_page,
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
        no_target,
    output:
        "{target}",
    localrule: True
