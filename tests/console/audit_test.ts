import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { hasBrowser, testBrowser } from "../support/browser.ts";
import { consoleProject } from "../support/console_project.ts";

test("the audit view shows stored events by page, filters them, folds long facts and verifies the trail", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  for (let at = 0; at < 60; at++) await project.host.callMethod("reply-tone", "echo.params", { at });
  await using browser = await testBrowser();
  const page = await browser.open(project, "audit");
  const rows = page.getByRole("table", { name: "Events, newest first" }).locator("tbody tr");
  await rows.filter({ hasText: "plugin.initialized" }).first().waitFor();
  await page.getByRole("button", { name: "Verify the trail" }).click();
  await page.getByText(/^Whole: \d+ lines fit$/).waitFor();
  const facts = await rows.locator("summary").allTextContents();
  assert.ok(facts.some((text) => text.endsWith("…")) && facts.every((text) => text.length <= 101), facts.join("\n"));
  const trail = join(project.home, "audit/harbor.jsonl");
  const whole = await readFile(trail, "utf8");
  // As long as it was: the host that runs goes on with the file.
  await writeFile(trail, whole.replace("plugin.spawned", "plugin.spawnt"));
  await page.getByRole("button", { name: "Verify the trail" }).click();
  await page.getByText(/^Broken: Line \d+ was changed/).waitFor();

  await page.getByRole("textbox", { name: "Type" }).fill("plugin.init*");
  await page.getByRole("textbox", { name: "Type" }).press("Enter");
  await page.getByRole("combobox", { name: "Plugin" }).selectOption("memory-markdown");
  await page.getByText("2 events", { exact: true }).waitFor();
  await rows.first().locator("summary").click();
  await rows.first().getByText('"methods_count"').waitFor();
  await page.getByRole("textbox", { name: "Text" }).fill("nothing has this");
  await page.getByRole("textbox", { name: "Text" }).press("Enter");
  await page.getByText("No event fits").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();

  await page.getByRole("combobox", { name: "Trail" }).selectOption("calls");
  await page.getByText("50 events, the newest").waitFor();
  await page.getByRole("button", { name: "Older events" }).click();
  await page.getByText("100 events, the newest").waitFor();
  const events = await rows.locator("pre").allTextContents();
  assert.deepEqual([events.length, new Set(events).size], [100, 100]);
  await page.getByRole("combobox", { name: "Events of" }).selectOption("operator");
  await page.getByText("No event fits").waitFor();
  assert.deepEqual(browser.complaints, []);
});
