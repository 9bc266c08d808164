"""The distribution's Chromium, headless, driven by Playwright (scripts/playwright) from one thread.

Input is real input (mouse and key events at where things are), and whatever the page throws, logs as an error or violates
is kept in `complaints`. `page` is Playwright's: https://playwright.dev/python/docs/api/class-page
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from process import ROOT
from waits import PATIENCE, expect, wait_until

FLAGS = ["--disable-gpu", "--disable-sync", "--no-proxy-server"]


def installed(package, *arguments):
    """The path that the script of this name prints; it downloads what is missing."""
    return subprocess.check_output([ROOT / "scripts" / package, *arguments], text=True).strip()


class Browser:
    def __init__(self, folder):
        """`folder`: what Chromium has for its home."""
        sys.path.insert(0, installed("playwright", sys.executable))
        from playwright.sync_api import sync_playwright  # in the folder that is on the path only now
        self.complaints, self.planted = [], {}
        self.playwright = sync_playwright().start()
        self.chromium = self.playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS,
                                                        env={**os.environ, "HOME": str(folder)})
        self.page = self.chromium.new_page(no_viewport=True)
        self.page.set_default_timeout(PATIENCE * 1000)
        self.devtools = self.page.context.new_cdp_session(self.page)
        self.click = self.page.click
        self.press, self.write = self.page.keyboard.press, self.page.keyboard.insert_text
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self.note)
        self.page.on("dialog", self.accept)

    def close(self):
        try:
            self.chromium.close()
        finally:
            self.playwright.stop()

    def note(self, message):
        if message.type in ("error", "warning", "assert"):
            self.complaints.append(f"{message.text} {message.location['url']}")

    def accept(self, dialog):
        self.complaints.append(f"a dialog: {dialog.message}")
        dialog.accept()

    def open(self, url, width=1240, height=900):
        self.look(width, height)
        self.page.goto(url)

    def look(self, width, height=900, scheme="light"):
        """By the DevTools protocol: Playwright itself changes `mobile` only with a new page."""
        self.devtools.send("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.page.emulate_media(color_scheme=scheme)

    def evaluate(self, expression, within=PATIENCE):
        """The value of the expression, or of the promise that it is. Playwright's function of this name has no deadline."""
        found = self.page.wait_for_function(f"async () => ({{value: await ({expression})}})", timeout=1000 * within)
        return found.json_value().get("value")

    def wait(self, what, expression, within=60):
        return wait_until(what, lambda: self.evaluate(expression), within)

    def text(self, selector):
        """The part of the element that a person can see."""
        return self.evaluate(f"""(() => {{
            const node = document.querySelector({json.dumps(selector)});
            return node?.checkVisibility() ? node.innerText : "";
        }})()""")

    def hover(self, selector, part):
        """Moves the mouse over an element, to this part of its width."""
        self.page.mouse.move(*self.place(selector, part))

    def touch(self, selector, part):
        """Taps with a finger, at this part of the element's width."""
        x, y = self.place(selector, part)
        self.devtools.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        self.devtools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def place(self, selector, part):
        element = self.page.locator(selector)
        element.evaluate("(node) => node.scrollIntoView({block: 'center'})")
        box = element.bounding_box()
        return box["x"] + part * box["width"], box["y"] + box["height"] / 2

    def plant(self, path, body):
        """Answers requests for this path with this text from then on; the service does not receive them."""
        known = path in self.planted
        self.planted[path] = body
        if not known:
            self.page.route(re.compile(re.escape(path)), lambda route: route.fulfill(body=self.planted[path]))

    def accessibility_violations(self):
        """The mistakes that axe-core (scripts/axe) finds in the present page, a line each: rule, help, and the elements."""
        if not self.evaluate("typeof axe !== 'undefined'"):
            self.evaluate(f"(() => {{{Path(installed('axe')).read_text()}\n}})()")
        found = self.evaluate("""axe.run(document, {resultTypes: ["violations"]}).then(({violations, passes}) => ({
            passes: passes.length,
            violations: violations.map(({id, help, nodes}) => `${id}: ${help}: ${nodes.map(({html}) => html.slice(0, 200)).join(" | ")}`),
        }))""")
        expect(found["passes"] > 10, f"axe-core checked next to nothing: {found}")
        return found["violations"]
