import assert from "node:assert/strict";
import { test } from "node:test";
import { hasBrowser, testBrowser } from "../support/browser.ts";
import { consoleProject } from "../support/console_project.ts";
import { changePlugin } from "../support/fixture_plugins.ts";

const FLAKY = { "link-preview": { fixture: "crashes_on_call", manifest: {} } };
const LIAR = { "metrics-push": { fixture: "wrong_version", manifest: {} } };

test("an event appears in the timeline as it happens, can be filtered, and waits while the timeline is paused", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "timeline");
  const rows = page.getByRole("list", { name: "Entries, newest first" }).getByRole("listitem");
  await project.host.callMethod("reply-tone", "echo.notify", { count: 1 });
  await rows.filter({ hasText: "echo.happened" }).first().waitFor();
  assert.match(await rows.first().locator("time").innerText(), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);

  await page.getByRole("combobox", { name: "Type" }).selectOption("plugin.initialized");
  await page.getByRole("combobox", { name: "Plugin" }).selectOption("memory-markdown");
  await page.getByText(/^2 of /).waitFor();
  await page.getByRole("combobox", { name: "Agent" }).selectOption("primary.subagents.researcher");
  await page.getByText(/^1 of /).waitFor();
  assert.equal(await rows.count(), 1);
  await page.getByRole("button", { name: "Clear filters" }).click();

  await page.getByRole("button", { name: "Pause" }).click();
  await project.host.callMethod("reply-tone", "echo.pid");
  await page.getByText(/paused, [1-9]\d* new/).waitFor();
  assert.equal(await rows.filter({ hasText: "echo.pid" }).count(), 0);
  await page.getByRole("button", { name: "Continue" }).click();
  await rows.filter({ hasText: "echo.pid" }).first().waitFor();
  assert.deepEqual(browser.complaints, []);
});

test("a plugin that the host refuses is in the plugins view with its reason, and runs once it is mended and reloaded", async (t) => {
  if (!await hasBrowser(t)) return;
  const config_schema = { type: "object", required: ["depth"] };
  await using project = await consoleProject({
    more: { "tide-table": { fixture: "echo", manifest: { config_schema } } },
  });
  await using browser = await testBrowser();
  const page = await browser.open(project, "plugins");
  // The other one waits for consent.
  await page.getByText(/, 2 refused$/).waitFor();
  const lacking = page.getByRole("article", { name: "web-clipper" });
  await lacking.getByText("plugin.not_installed").waitFor();
  assert.equal(await lacking.getByRole("link", { name: "See what web-clipper asks for" }).count(), 1);
  const refused = page.getByRole("article", { name: "tide-table" });
  await refused.getByText("refused", { exact: true }).waitFor();
  await refused.getByText(/project\.yaml:\d+:\d+: .*depth: Field "depth" is missing/).waitFor();
  await refused.getByRole("button", { name: "Reload tide-table" }).click();
  await refused.getByRole("alert").getByText("plugin.refused").waitFor();
  await refused.getByRole("link", { name: "tide-table" }).click();
  await page.getByRole("region", { name: "Instances" }).getByText("refused", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Knobs" }).click();
  await page.getByText("its knobs appear once it runs").waitFor();
  await changePlugin(project.host.view.plugin("tide-table").dir!, { manifest: { config_schema: { type: "object" } } });
  await page.getByRole("button", { name: "Reload tide-table" }).click();
  await page.getByRole("button", { name: "Restart tide-table" }).waitFor();
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("region", { name: "Instances" }).getByText("running", { exact: true }).waitFor();
  assert.deepEqual(browser.complaints, []);
});

test("the plugins view shows state, cage, limits, a failure with its hint, and restarts as they come", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject({ more: { ...FLAKY, ...LIAR } });
  await using browser = await testBrowser();
  const page = await browser.open(project, "plugins");
  const liar = page.getByRole("article", { name: "metrics-push" });
  await liar.getByText("failed", { exact: true }).waitFor();
  await liar.getByText("initialize.version_mismatch").waitFor();
  await liar.getByText("Use one version in manifest and plugin").waitFor();
  const flaky = page.getByRole("article", { name: "link-preview" });
  await flaky.getByText("512 MB · 100 processes · 256 CPU shares").waitFor();
  // Who holds it to them: whichever of the four this machine has.
  await flaky.getByText(/^(cgroup v2|cgroup v1|systemd|watchdog)$/).waitFor();
  await flaky.getByRole("img", { name: "0 restarts, 0 in the last hour" }).waitFor();
  await project.host.callMethod("link-preview", "fixture.call").catch(() => {});
  await flaky.getByRole("img", { name: "1 restart, 1 in the last hour" }).waitFor();
  await flaky.getByText("running", { exact: true }).waitFor();
});

test("a plugin is restarted, disabled and enabled from the page", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "plugins");
  const row = page.getByRole("article", { name: "reply-tone" });
  const pid = () => project.host.callMethod("reply-tone", "echo.params").then(() => project.host.plugins());
  await pid();
  await row.getByRole("button", { name: "Disable reply-tone" }).click();
  await row.getByText("disabled", { exact: true }).waitFor();
  await assert.rejects(pid(), { code: "plugin.unavailable" });
  await row.getByRole("button", { name: "Enable reply-tone" }).click();
  await row.getByText("running", { exact: true }).waitFor();
  await pid();
  const started = new Promise<void>((resolve) => {
    project.host.onAudit(({ type, name }) => type === "plugin.initialized" && name === "reply-tone" && resolve());
  });
  await row.getByRole("button", { name: "Restart reply-tone" }).click();
  await started;
});

test("the log is followed and the tables of a plugin are listed with their bytes", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "plugins/reply-tone/log");
  await page.getByText("Nothing in the log").waitFor();
  await project.host.callMethod("reply-tone", "echo.log", { text: "<script>one</script>\ntwo\n" });
  const log = page.getByRole("log", { name: "Log of reply-tone" });
  await log.getByText("<script>one</script>").waitFor();
  await log.getByText("two").waitFor();
  const written = JSON.stringify({ level: "warn", msg: "The disk fills", time: "2026-01-01T00:00:00Z", free: "9 %" });
  await project.host.callMethod("reply-tone", "echo.log", { text: `${written}\n` });
  const line = log.locator(".log-line").filter({ hasText: "The disk fills" });
  await line.locator(".level.warn").getByText("warn", { exact: true }).waitFor();
  assert.match(await line.innerText(), /warn The disk fills free=9 %$/);

  await page.getByRole("link", { name: "Storage" }).click();
  await page.getByText("No tables").waitFor();
  for (const sql of ["CREATE TABLE replies (id INTEGER)", "INSERT INTO replies VALUES (1), (2)"]) {
    await project.host.callMethod("reply-tone", "echo.storage", { method: "exec", sql });
  }
  await page.getByRole("row", { name: /^replies\s+2\s+[\d.]+ kB/ }).waitFor(); // Until both statements are seen.
  assert.deepEqual(browser.complaints, []);
});

test("jobs are listed with their events, and can be cancelled", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "jobs");
  await page.getByText("No agent runs jobs here").waitFor();
  const { host } = project;
  host.agent("primary", ({ emit, signal }) => {
    emit("step", { text: "reading the tide table" });
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  const { id } = await host.jobs.start({ agentName: "primary", input: "Sum up the <b>tides</b>" });
  const job = page.getByRole("row").filter({ hasText: "Sum up the <b>tides</b>" });
  await job.getByText("running").waitFor();
  await job.getByText("Events", { exact: true }).click();
  await job.getByText("reading the tide table").waitFor();
  await job.getByRole("button", { name: `Cancel ${id}` }).click();
  await job.getByText("cancelled", { exact: true }).waitFor();
});

test("a page whose host goes away says so, keeps its last state, and reconnects by itself", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "plugins");
  await page.getByRole("article", { name: "reply-tone" }).waitFor();
  await project.unplug();
  await page.getByRole("alert").getByText("The host does not answer").waitFor();
  assert.equal(await page.getByRole("article", { name: "reply-tone" }).count(), 1);
  await project.host.disable("reply-tone");
  await project.plugIn();
  await page.getByRole("status").getByText("live").waitFor();
  await page.getByRole("article", { name: "reply-tone" }).getByText("disabled", { exact: true }).waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
});
