"""The site: the API from docstrings, the gallery from `gallery/*.py`, and the documents beside it.

``make docs`` builds it; a warning is an error. Nothing is fetched.
"""

import warnings

import solution_paths

project = "solution_paths"
version = release = solution_paths.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "myst_parser",
]
exclude_patterns = ["images/*.py", "gallery"]
default_role = "py:obj"  # `SolutionPath.certify` in a docstring is a link
autosummary_generate = True
templates_path = ["templates"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections say it with shapes and units
numpydoc_show_class_members = False
numpydoc_validation_checks = {"PR02"}  # a parameter that isn't there
myst_heading_anchors = 2

html_theme = "furo"
html_title = f"solution_paths {version}"
html_copy_source = html_show_sphinx = html_show_copyright = False
highlight_language = "none"  # of literal blocks: formulas

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"\.py$",  # every example runs
    "abort_on_example_error": True,
    "download_all_examples": False,
    "copyfile_regex": "",
    "doc_module": "solution_paths",
    "backreferences_dir": "auto_gallery/uses",
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 0,
    "remove_config_comments": True,
}
warnings.filterwarnings("error", module="__main__")  # an example that warns is wrong
