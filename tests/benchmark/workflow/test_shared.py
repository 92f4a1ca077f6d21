"""The workflow as others find and use it: catalogues, other repositories, its schema."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from copy import deepcopy

import jsonschema
import pytest
import yaml

from helpers import ROOT
from helpers.papers import repository_config
from helpers.workflow import environment, job_counts, one_error, snakemake
from path_benchmark.papers.schema import text

pytestmark = pytest.mark.slow

SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
MODULE = """
configfile: "config/config.yaml"


module theirs:
    snakefile:
        "{root}/workflow/Snakefile"
    config:
        config


use rule * from theirs
"""


def test_the_schema_is_what_the_models_say():
    """Write it anew as its first line says where this fails."""
    assert SCHEMA.read_text("utf-8") == text()


def test_the_schema_takes_the_configuration():
    schema = yaml.safe_load(SCHEMA.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(yaml.safe_load((ROOT / "config" / "config.yaml").read_text()), schema)
    jsonschema.validate(repository_config(), schema)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("ofline",), True),
        (("offline",), "yes"),
        (("papers", "quantile_svm", "settngs"), {}),
        (("papers", "weighted_svm", "settings", "gamma"), "wide"),
        (("papers", "quantile_svm", "experiments", "path"), {"lamda": 1.0}),
        (("papers", "quantile_svm", "suites", "quick", "path", "splits"), 0),
    ],
)
def test_the_schema_refuses_what_is_wrong(keys, value):
    wrong = deepcopy(repository_config())
    place = wrong
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, yaml.safe_load(SCHEMA.read_text("utf-8")))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"only": "kinks", "offline": true, "only": ""}', "the key 'only' stands twice"),
        ('{"suites": {"quick": "a", "quick": "b"}}', "the key 'quick' stands twice"),
        ('{"only": "kinks",}', "is not valid JSON in line 1, column 18"),
    ],
)
def test_a_configuration_in_json_is_read_as_strictly_as_yaml(checkout, content, says):
    (checkout / "mine.json").write_text(content)
    one_error(snakemake(checkout, "-n", "quick", "--configfile", "mine.json"), "mine.json", says)


def test_another_repository_takes_over_all_rules(checkout, tmp_path):
    theirs = tmp_path / "theirs"
    (theirs / "config").mkdir(parents=True)
    shutil.copy(checkout / ".test" / "config" / "config.yaml", theirs / "config")
    (theirs / "Snakefile").write_text(MODULE.format(root=checkout))
    env = environment(checkout)
    del env["PYTHONPATH"]
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "-n", "quick"]
    run = subprocess.run(command, cwd=theirs, env=env, capture_output=True, text=True)
    own = job_counts(snakemake(checkout, "-n", "quick", "--config", "reference="))
    assert job_counts(run) == own


def test_the_small_configuration_is_accepted(checkout):
    plan = ["-n", "quick", "--directory", ".test", "--config", "only=kinks"]
    assert job_counts(snakemake(checkout, *plan))["outputs"] == 1


def test_the_root_and_the_folder_of_the_workflow_are_one(checkout):
    assert (checkout / "workflow" / "Snakefile").is_file()
    # Without a target: everything of the papers; without reference results, which may have all.
    plan = ["-n", "--config", "only=kinks", "reference="]
    here = job_counts(snakemake(checkout, *plan))
    assert here.pop("all") == 1
    (checkout / "Snakefile").unlink()
    there = job_counts(snakemake(checkout, *plan))
    assert there.pop("paper") == 1
    assert here.pop("total") == there.pop("total") > 5
    assert here == there


def test_one_version_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert json.loads((ROOT / "codemeta.json").read_text())["version"] == version
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
    image = f"solution-paths/solution-paths:{version}"
    assert f'container: "docker://{image}"' in (ROOT / "workflow" / "Snakefile").read_text()
    assert f"docker build -t {image} ." in (ROOT / "Dockerfile").read_text()


def test_every_source_of_the_paper_is_cited_and_listed():
    cited = set(re.findall(r"@([a-z]+\d{4})", (ROOT / "paper" / "paper.md").read_text()))
    listed = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(), re.M)
    assert cited == set(listed)
    assert len(listed) == len(set(listed))
