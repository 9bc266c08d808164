"""The module that every story imports: it has the names that most stories use. After its import, the modules of
integration/framework, of the folders beside it, and of other stories can be imported by name.

A story is a function of a Run; harness.main() runs it, prints what it found, and cleans up whatever happens. The programs come
from LANEWAY and KAFKA_TOOL (ctest sets them), or from build/.
"""
import sys
from pathlib import Path

INTEGRATION = Path(__file__).resolve().parents[1]
FOLDERS = [INTEGRATION / folder for folder in ("framework", "oracle", "proxy", "faults", "alerts")]
STORIES = sorted({file.parent for file in (INTEGRATION / "scenarios").glob("*/*.py")})
# After the program's own folder, so that nothing else of the same name is found first.
sys.path[1:1] = map(str, FOLDERS + STORIES)
sys.path.append(str(INTEGRATION.parent))  # for the packages of tools/

from checks import Promises  # noqa: E402,F401
from process import KAFKA_TOOL, LANEWAY, PLUGINS, ROOT, die_with_parent, inherited_environment  # noqa: E402,F401
from run import Run  # noqa: E402,F401
from service_settings import GROUP_PROTOCOL, SHORT_SESSION, merged  # noqa: E402,F401
from story import at_once, main  # noqa: E402,F401
from waits import PATIENCE, Failed, expect, expect_equal, wait_until  # noqa: E402,F401
