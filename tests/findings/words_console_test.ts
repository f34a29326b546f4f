/**
 * Findings about the console, with a real browser.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasBrowser, testBrowser } from "../support/browser.ts";
import { consoleProject } from "../support/console_project.ts";

// Finding 18: lines of the log were raw JSON, and the timeline had times without a date.
test("the console writes a line of a plugin's log in words, and times of the timeline with their date", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "plugins/reply-tone/log");
  const text = `${JSON.stringify({ level: "warn", msg: "The disk fills", free: "9 %" })}\n`;
  await project.host.callMethod("reply-tone", "echo.log", { text });
  const line = page.locator(".log-line").filter({ hasText: "The disk fills" });
  await line.waitFor();
  assert.match(await line.innerText(), /warn The disk fills free=9 %$/);
  await page.goto(`${project.address}/#/timeline`);
  const time = page.getByRole("list", { name: "Entries, newest first" }).locator("time").first();
  await time.waitFor();
  assert.match(await time.innerText(), /^\d{4}-\d\d-\d\d /);
});
