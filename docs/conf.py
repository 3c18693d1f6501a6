"""Configuration of the site, which ``make docs`` writes to docs/_build/html; warnings are errors.

The pages are Markdown that can also be read without a site. Generated parts are made
while the site is built: the API from docstrings, the command line from its own help, REST from the
specification of the service, the gallery from the scripts in examples/. A built site asks no other
host for anything, and works from a folder.
"""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # docs.extensions
os.environ.setdefault("MPLBACKEND", "agg")

project = "labelkin"
author = "labelkin developers"
project_copyright = "labelkin developers, BSD-3-Clause"
release = version = installed_version("labelkin")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docs.extensions.api_pages",
    "docs.extensions.command_line",
    "docs.extensions.mathml",
    "docs.extensions.rest_api",
]
templates_path = ["templates"]
exclude_patterns = [
    "_build",
    "make",
    "extensions",
    "templates",
    "how-to/deployment",
    "**/GALLERY_HEADER.rst",
]
nitpicky = True

# Markdown: links and anchors as GitHub has them
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# API: docstrings say the types, signatures show names and defaults
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_ignore_module_all = False
autosummary_imported_members = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_class_members_toctree = False
add_module_names = False
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"recipes/|__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("labelkin",),
    "backreferences_dir": "gallery/backreferences",
    "reference_url": {"labelkin": None},
    "prefer_full_module": {r"labelkin\..*"},
    "plot_gallery": "True",
    "abort_on_example_error": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"labelkin {release}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_search_summary = False  # it is fetched page by page, which a folder does not allow
html_theme_options = {
    "logo": {"text": "labelkin"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "install": [], "cite": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
