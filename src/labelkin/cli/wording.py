"""The library's messages in the words of the command line: options, not parameters of Python."""

from __future__ import annotations

import re

#: How a corpus that lies elsewhere is named, by command; the others take its folder as the corpus.
_PLACE = {"corpus": "name its folder by --path", "experiment": "name its folder by --data"}
_WORDS = (
    (r"encoding='latin-1'", "--encoding latin-1"),
    (
        r'evidence_weight must be a number of at least 0, "auto" or a LearnedWeight',
        "--weight must be a number of at least 0 or auto",
    ),
    (r"1 is the paper, 0 the content alone", "1 is the paper's, 0 the content alone"),
    (r"^language must be", "--language must be"),
    (r"stem=True needs PyStemmer", "--stem needs PyStemmer"),
    (r"stem=False needs nothing", "--no-stem needs nothing"),
    (r"Use stem=False for", "Use --no-stem for"),
    (r"min_documents=(\d+) documents", r"--min-documents \1 documents"),
    (r"^min_documents must", "--min-documents must"),
    (r"Lower min_documents", "Lower --min-documents"),
    (r"relax stop_words, token_pattern or markup", "relax --stop-words"),
    (r'\(LabelRescorer: scale="log_odds"\)', "with --scale log_odds"),
    (r"labelkin\.save\(model, path\) writes one", "labelkin train writes one"),
    (r"labelkin\.save\(model, path\) writes model files", "labelkin train writes model files"),
    (
        r"Other names are given by columns=\{'text': …, 'labels': …\}",
        "Other names are given by --text-column and --labels-column",
    ),
    (r" Where quotes mean nothing, pass quoted=False\.", ""),
    (r"pass delimiter=", "pass --delimiter "),
    (r"^separator must be", "--label-separator must be"),
    (r"it takes no path, got PosixPath\((.*)\)", r"it takes no --path, got \1"),
    (r"it takes no path, got WindowsPath\((.*)\)", r"it takes no --path, got \1"),
    (r"^n_documents must", "--documents must"),
)


def for_command_line(message: str, command: str = "") -> str:
    """Return a message of the library as the user of a command can follow it.

    Examples
    --------
    >>> for_command_line("language must be one that Snowball knows. Use stem=False for any other.")
    '--language must be one that Snowball knows. Use --no-stem for any other.'
    """
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    place = _PLACE.get(command, "name its folder in place of the corpus")
    return message.replace("pass its folder as path=", place)
