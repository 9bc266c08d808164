"""A headless Chromium, driven by the DevTools protocol over a pipe: no port, no other package.

Input is real input (mouse and key events at where things are), and whatever the page throws, logs as an error or violates
is kept in `complaints`. https://chromedevtools.github.io/devtools-protocol/
"""
import base64
import json
import os
import queue
import subprocess
import threading
from pathlib import Path

from process import ROOT, die_with_parent
from waits import Failed, expect, wait_until

# No sandbox: it needs rights that neither root nor a container has, and the pages are our own.
FLAGS = ["--headless", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
         "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-sync",
         "--disable-extensions", "--mute-audio", "--hide-scrollbars", "--no-proxy-server"]
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}
PATIENCE = 90  # for one answer: a machine that is busy with everything else


class Browser:
    def __init__(self, folder):
        to_browser, ours = os.pipe()
        theirs, from_browser = os.pipe()
        self.log_file = folder / "chromium.txt"  # full of what it misses in a container

        def wired():
            die_with_parent()
            # Elsewhere first: 3 and 4 may be among the four.
            reading, writing = os.dup(to_browser), os.dup(from_browser)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen(
                ["chromium", *FLAGS, f"--user-data-dir={folder / 'chromium'}", "about:blank"], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, preexec_fn=wired, close_fds=False, env={**os.environ, "HOME": str(folder)})
        os.close(to_browser)
        os.close(from_browser)
        self.commands = os.fdopen(ours, "wb", buffering=0)
        self.answers = os.fdopen(theirs, "rb")
        self.incoming, self.complaints, self.number, self.session, self.planted = queue.Queue(), [], 0, None, {}
        threading.Thread(target=self.read, daemon=True).start()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.commands.close()

    # The protocol.

    def read(self):
        rest = b""
        while piece := self.answers.read1(1 << 16):
            *whole, rest = (rest + piece).split(b"\0")
            for message in whole:
                self.incoming.put(json.loads(message))
        self.incoming.put(None)

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        return self.number

    def call(self, method, **parameters):
        """The result. Events that come meanwhile are looked through for complaints."""
        number = self.send(method, **parameters)
        while True:
            answer = self.next_message(method)
            if answer.get("id") == number:
                expect("error" not in answer, f"{method}: {answer.get('error')}")
                return answer["result"]
            self.note(answer)

    def next_message(self, method):
        try:
            message = self.incoming.get(timeout=PATIENCE)
        except queue.Empty:
            raise Failed(f"chromium has not answered {method} within {PATIENCE} s") from None
        expect(message is not None, f"chromium ended: {self.log_file.read_text(errors='replace')[-2000:]}")
        return message

    def note(self, event):
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"a dialog: {parameters['message']}")
            self.send("Page.handleJavaScriptDialog", accept=True)
        elif method == "Fetch.requestPaused":
            body = next(body for path, body in self.planted.items() if path in parameters["request"]["url"])
            self.send("Fetch.fulfillRequest", requestId=parameters["requestId"], responseCode=200, body=body)

    # A page.

    def open(self, url, width=1240, height=900, scheme="light"):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.look(width, height, scheme)
        self.call("Page.navigate", url=url)

    def look(self, width, height=900, scheme="light"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        expect("exceptionDetails" not in result, f"{expression}: {result.get('exceptionDetails')}")
        return result["result"].get("value")

    def wait(self, what, expression, within=60):
        return wait_until(what, lambda: self.evaluate(expression), within)

    def text(self, selector):
        """The part of the element that a person can see."""
        return self.evaluate(f"""(() => {{
            const node = document.querySelector({json.dumps(selector)});
            return node?.checkVisibility() ? node.innerText : "";
        }})()""")

    def click(self, selector):
        """With the mouse, in its middle, where nothing else may lie above it."""
        place = wait_until(f"{selector} is there and not covered", lambda: self.place(selector))
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place["x"], y=place["y"], button="left", clickCount=1)

    def place(self, selector):
        """The middle of the part that can be clicked."""
        return self.evaluate(f"""(() => {{
            const node = document.querySelector({json.dumps(selector)});
            if (!node) return null;
            node.scrollIntoView({{block: "center"}});
            const box = node.getBoundingClientRect();
            const x = box.x + box.width / 2, y = box.y + box.height / 2;
            return node.contains(document.elementFromPoint(x, y)) ? {{x, y}} : null;
        }})()""")

    def hover(self, selector, part):
        """Moves the mouse over an element, to this part of its width."""
        box = self.box(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=box["x"] + part * box["width"], y=box["y"] + box["height"] / 2)

    def touch(self, selector, part):
        """Taps with a finger, at this part of the element's width."""
        box = self.box(selector)
        point = {"x": box["x"] + part * box["width"], "y": box["y"] + box["height"] / 2}
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[point])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def box(self, selector):
        return self.evaluate(f"""(() => {{
            const node = document.querySelector({json.dumps(selector)});
            node.scrollIntoView({{block: "center"}});
            const {{x, y, width, height}} = node.getBoundingClientRect();
            return {{x, y, width, height}};
        }})()""")

    def press(self, key, shift=False):
        text = {"text": "\r"} if key == "Enter" else {}
        held = {"modifiers": 8} if shift else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=KEYS[key], **text, **held)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=KEYS[key], **held)

    def write(self, text):
        """Types into the element that has the focus."""
        self.call("Input.insertText", text=text)

    def plant(self, path, body):
        """Answers requests for this path with this text from then on; the service does not receive them."""
        self.planted[path] = base64.b64encode(body.encode()).decode()
        self.call("Fetch.enable", patterns=[{"urlPattern": f"*{path}*"} for path in self.planted])

    def accessibility_violations(self):
        """The mistakes that axe-core (scripts/axe) finds in the present page, a line each: rule, help, and the elements."""
        if not self.evaluate("typeof axe !== 'undefined'"):
            self.evaluate(Path(subprocess.check_output([ROOT / "scripts" / "axe"], text=True).strip()).read_text())
        found = self.evaluate("""axe.run(document, {resultTypes: ["violations"]}).then(({violations, passes}) => ({
            passes: passes.length,
            violations: violations.map(({id, help, nodes}) => `${id}: ${help}: ${nodes.map(({html}) => html.slice(0, 200)).join(" | ")}`),
        }))""")
        expect(found["passes"] > 10, f"axe-core checked next to nothing: {found}")
        return found["violations"]

    def picture(self, file, whole=False):
        """A picture of the window, or of the `whole` page."""
        taken = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **({"clip": self.page_box()} if whole else {}))
        file.write_bytes(base64.b64decode(taken["data"]))

    def page_box(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
