"""Decodes recorded answers with the models of the official Python client.

Input: one JSON object a line, {"method", "path", "status", "body"}; paths are below the version prefix.
Output: one JSON object, {"operations": number, "answers": number, "undecoded": [text]}.
The client's own code says which model each operation and status has.
"""

import glob
import json
import os
import re
import sys
from typing import *  # noqa: F403 - the models' type expressions name what stands here

import flexprice
from flexprice import models  # noqa: F401 - as above
from flexprice.utils.serializers import unmarshal_json

CALL = re.compile(r'method="([A-Z]+)",\s*path="([^"]+)"')
MODEL = re.compile(
    r'match_response\(\s*http_res,\s*("[^"]+"|\[[^\]]*\]),\s*"application/json"\s*\):\s*'
    r"(?:return|response_data =) unmarshal_json_response\(\s*(.*?),\s*http_res\s*\)",
    re.S,
)


def operations():
    """(method, pattern of the path, [(statuses, type expression)]), the most literal paths first."""
    found = []
    for file in glob.glob(os.path.join(flexprice.__path__[0], "*.py")):
        with open(file, encoding="utf-8") as source:
            functions = re.split(r"\n    (?=async def |def )", source.read())
        for function in functions:
            call = CALL.search(function)
            if call is None or function.startswith("async"):
                continue
            answers = [(json.loads(f"[{statuses.strip('[]')}]"), kind) for statuses, kind in MODEL.findall(function)]
            found.append((call.group(1), call.group(2), answers))
    return sorted(found, key=lambda operation: operation[1].count("{"))


def covers(status, pattern):
    return pattern == status or (pattern.endswith("XX") and pattern[0] == status[0])


def main():
    known = [
        (method, re.compile(re.sub(r"\{[^}]+\}", "[^/]+", path)), path, answers)
        for method, path, answers in operations()
    ]
    walked, decoded, undecoded = set(), 0, []
    for line in sys.stdin:
        answer = json.loads(line)
        operation = next(
            (one for one in known if one[0] == answer["method"] and one[1].fullmatch(answer["path"])),
            None,
        )
        if operation is None:
            continue
        method, _, path, answers = operation
        name = f"{method} {path}"
        walked.add(name)
        status = str(answer["status"])
        kind = next((kind for statuses, kind in answers if any(covers(status, one) for one in statuses)), None)
        if kind is None:
            undecoded.append(f"{name}: the client does not know status {status}")
            continue
        try:
            unmarshal_json(answer["body"], eval(kind))  # the expression is the client's own code
            decoded += 1
        except Exception as error:  # noqa: BLE001 - whatever the client raises is reported
            undecoded.append(f"{name}: {str(error)[:500]}")
    print(json.dumps({"operations": len(walked), "answers": decoded, "undecoded": undecoded}))


main()
