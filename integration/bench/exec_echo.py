"""The smallest program for the exec handler: answers each line, after as many milliseconds as its argument says."""
import json
import sys
import time

delay = float(sys.argv[1]) / 1000 if len(sys.argv) > 1 else 0
for line in sys.stdin:
    if delay:
        time.sleep(delay)
    print(json.dumps({"id": json.loads(line)["id"], "outcome": "done"}), flush=True)
