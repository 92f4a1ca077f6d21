# A job is (paper, lane, experiment, data set, chunk of splits). Its cells, in results/<suite>/cells, are no declared
# outputs: Snakemake would delete them when a job is killed, and they are what it resumes from.
rule run_accuracy:
    input:
        fetched,
    output:
        f"{RESULTS}/{{suite}}/jobs/{{paper}}/accuracy/{{experiment}}/{{dataset}}/{{first}}-{{last}}-{{digest}}.txt",
    log:
        "logs/{suite}/{paper}/{experiment}/{dataset}/{first}-{last}-{digest}.log",
    threads: 1
    resources:
        mem_mb=need("mem_mb"),
        runtime=need("minutes"),
    script:
        "../scripts/run_chunk.py"


# Timing jobs take every core, so that nothing runs beside them, and use one thread.
use rule run_accuracy as run_timing with:
    input:
        fetched,
    output:
        f"{RESULTS}/{{suite}}/jobs/{{paper}}/timing/{{experiment}}/{{dataset}}/{{first}}-{{last}}-{{digest}}.txt",
    threads: lambda wildcards: workflow.cores


# A file whose name has a digest of all that the results, or what is made of them, depend on. It isn't there, and so newer
# than they are, when that has changed; whoever was made with it removes the others.
rule depends:
    output:
        touch(f"{SHOWN}/{{paper}}/.depends/{{part}}-{{digest}}"),
    localrule: True


rule results:
    input:
        lambda wildcards: PLAN.job_lists(wildcards.suite, wildcards.paper)(wildcards),
        PLAN.depends("results"),
    output:
        results=f"{SHOWN}/{{paper}}/results.parquet",
        curves=f"{SHOWN}/{{paper}}/curves.parquet",
    log:
        "logs/{suite}/{paper}/results.log",
    script:
        "../scripts/collect.py"


rule outputs:
    input:
        results=f"{SHOWN}/{{paper}}/results.parquet",
        curves=f"{SHOWN}/{{paper}}/curves.parquet",
        depends=PLAN.depends("outputs"),
    output:
        manifest=f"{SHOWN}/{{paper}}/outputs.json",
        tables=report(
            directory(f"{SHOWN}/{{paper}}/tables"),
            patterns=["{name}.html"],
            caption="../report/table.rst",
            category=PLAN.title_of,
            subcategory="Tables",
            labels=PLAN.label_of,
        ),
        figures=report(
            directory(f"{SHOWN}/{{paper}}/figures"),
            patterns=["{name}.png"],
            caption="../report/figure.rst",
            category=PLAN.title_of,
            subcategory="Figures",
            labels=PLAN.label_of,
        ),
        claims=report(
            f"{SHOWN}/{{paper}}/claims.csv",
            caption="../report/claims.rst",
            category=PLAN.title_of,
            subcategory="Claims",
            labels={"suite": "{suite}", "what": "claims with verdicts and evidence"},
        ),
    log:
        "logs/{suite}/{paper}/outputs.log",
    script:
        "../scripts/report_paper.py"


rule notebook:
    input:
        notebook=lambda wildcards: PLAN.notebook_of(wildcards.paper),
        results=f"{SHOWN}/{{paper}}/results.parquet",
        curves=f"{SHOWN}/{{paper}}/curves.parquet",
        manifest=f"{SHOWN}/{{paper}}/outputs.json",
        claims=f"{SHOWN}/{{paper}}/claims.csv",
        tables=f"{SHOWN}/{{paper}}/tables",
        figures=f"{SHOWN}/{{paper}}/figures",
    output:
        f"{SHOWN}/{{paper}}/notebook.ipynb",
    log:
        "logs/{suite}/{paper}/notebook.log",
    script:
        "../scripts/run_notebook.py"
