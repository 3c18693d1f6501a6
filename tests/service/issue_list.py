"""Issues as an audit writes them, for a review."""

import json

FIRST = {
    "document": "n7",
    "label": "grain",
    "kind": "missing",
    "given": False,
    "repair": "add",
    "probability": 0.97,
    "decision": "",
    "reason": "",
    "parts": {"prior": -2.0, "content": 4.5, "other labels": 3.1, "noise": -2.1},
    "because_of": [
        {"label": "wheat", "given": True, "log_odds": 3.4},
        {"label": "gold", "given": False, "log_odds": -0.3},
    ],
    "words": [
        {"term": "wheat", "words": ["Wheat", "wheat"], "log_odds": 2.0},
        {"term": "gold", "words": ["gold"], "log_odds": -1.0},
    ],
    "similar": [
        {"document": "n9", "similarity": 0.71, "given": True, "labels": ["grain"], "text": "Corn."}
    ],
    "labels": ["wheat"],
    "text": "Wheat rose; wheat stores are <full>, and gold fell.",
    "fingerprint": "0123456789ab",
}
SECOND = {
    **FIRST,
    "document": "n8",
    "label": "gold",
    "kind": "wrong",
    "given": True,
    "repair": "remove",
    "probability": 0.81,
    "labels": ["gold", "wheat"],
}
THIRD = {**FIRST, "document": "n9", "reason": "wheat implies grain", "kind": "rule"}
ISSUES = (FIRST, SECOND, THIRD)


def write_issues(folder, issues=ISSUES):
    """Write issues as JSON lines; return the file."""
    path = folder / "issues.jsonl"
    path.write_text("".join(json.dumps(issue) + "\n" for issue in issues))
    return path
