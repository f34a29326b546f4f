import assert from "node:assert/strict";
import { test } from "node:test";
import { hasBrowser, seriousFindings, testBrowser } from "../support/browser.ts";
import { consoleProject } from "../support/console_project.ts";

test("T-010 jobs of every scope are listed with their scope, filtered by it, cancelled, and their results unfolded", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const { host } = project;
  host.agent("primary", ({ input, signal }) => {
    if (input.startsWith("Sum")) return `Low tide at 14:00. ${"x".repeat(2_000_000)}`;
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  });
  const ended = await host.jobs.start({ agentName: "primary", input: "Sum up the tides", scopeId: "pier-7" });
  await host.jobs.finished(ended.id, "pier-7");
  const waits = await host.jobs.start({ agentName: "primary", input: "Wait for the pilot", scopeId: "quay" });
  for (let at = 0; at < 50; at++) {
    await host.jobs.cancel((await host.jobs.start({ agentName: "primary", input: "Old" })).id);
  }
  const page = await browser.open(project, "jobs");
  const rows = page.getByRole("row");
  await page.getByText("the newest 50 jobs").waitFor();
  await page.getByRole("button", { name: "Older jobs" }).click();
  await rows.filter({ hasText: "pier-7" }).waitFor();
  assert.equal(await rows.count(), 3);
  const tides = rows.filter({ hasText: "Sum up the tides" });
  await tides.getByText("Result, 2.0 MB").click();
  await tides.getByText("Low tide at 14:00.").waitFor();
  await tides.getByText(`kaged jobs result ${ended.id}`).waitFor();
  await page.getByLabel("Scope", { exact: true }).selectOption("quay");
  await page.getByText("1 job", { exact: true }).waitFor();
  await page.getByRole("button", { name: `Cancel ${waits.id}` }).click();
  await rows.filter({ hasText: "quay" }).getByText("cancelled", { exact: true }).waitFor();
  assert.equal((await host.jobs.get(waits.id, "quay")).status, "cancelled");
  assert.deepEqual(await seriousFindings(page), []);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("the newest 50 jobs").waitFor();
  assert.deepEqual(browser.complaints, []);
});
