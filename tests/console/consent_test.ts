import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { hasBrowser, testBrowser } from "../support/browser.ts";
import { CLIPPER, consoleProject } from "../support/console_project.ts";

test("K-053 the consent screen shows the capabilities, hooks and tools of a plugin in plain words, dangers marked, HTML as text", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "consents");
  const card = page.getByRole("article", { name: "web-clipper" });
  await card.getByText(CLIPPER.description!, { exact: true }).waitFor();
  assert.equal(await card.locator("img, b").count(), 0);
  assert.equal(await card.getByText("./plugins/web-clipper", { exact: true }).count(), 1);
  assert.equal(await card.getByText(join(project.dir, "plugins/web-clipper"), { exact: true }).count(), 1);
  assert.equal(await card.getByText("web-clipper.clip", { exact: true }).count(), 1, "its tools");
  assert.equal(await card.getByText("pre_compact", { exact: true }).count(), 1, "its hooks");
  assert.equal(await card.getByRole("checkbox").count(), 5);
  const careful = card.locator("label", { hasText: "Careful:" });
  assert.deepEqual(
    (await careful.allInnerTexts()).map((text) => text.split(/\s{2,}|\n/)[0]?.replace(/ (exec|net):.*/, "")),
    ["Can run the program git", "Can use the whole network"],
  );
  assert.doesNotMatch(await page.title(), /taken/);
  assert.deepEqual(browser.complaints, []);
});

test("K-053 approving takes a tick for each capability; then the plugin is installed and runs", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "consents");
  const approve = page.getByRole("button", { name: "Approve and start" });
  for (const box of await page.getByRole("checkbox").all()) {
    assert.equal(await approve.isDisabled(), true);
    await box.check();
  }
  const before = project.host.plugins().find(({ plugin }) => plugin === "web-clipper");
  assert.deepEqual([before?.state, before?.error?.code], ["refused", "plugin.not_installed"]);
  await approve.click();
  await page.getByText("@harbor/web-clipper is installed").waitFor();
  await page.getByText("Nothing waits for you").waitFor();
  await page.getByRole("link", { name: "Plugins" }).click();
  await page.getByRole("article", { name: "web-clipper" }).getByText("running").waitFor();
  assert.deepEqual(
    project.host.plugins().filter(({ plugin }) => plugin === "web-clipper").map(({ state }) => state),
    ["running"],
  );
});

test("K-053 declining installs nothing, and the request can be asked for again and approved later", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "consents");
  await page.getByRole("button", { name: "Decline web-clipper" }).click();
  await page.getByText("@harbor/web-clipper was declined").waitFor();
  assert.deepEqual(project.host.consents().map(({ state }) => state), ["declined"]);
  await page.getByRole("article").getByText("declined", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Ask again for web-clipper" }).click();
  await page.getByText("@harbor/web-clipper is asked for again").waitFor();
  assert.deepEqual(project.host.consents().map(({ state }) => state), ["waiting"]);
  for (const box of await page.getByRole("checkbox").all()) await box.check();
  await page.getByRole("button", { name: "Approve and start" }).click();
  await page.getByText("@harbor/web-clipper is installed").waitFor();
});

test("K-055 of an upgrade only new capabilities are to be acknowledged; those it gives up are listed", async (t) => {
  if (!await hasBrowser(t)) return;
  const kept = CLIPPER.capabilities!.filter((capability) => capability !== "net:*");
  await using project = await consoleProject({
    installed: { manifest: { version: "1.9.0", capabilities: [...kept, "read:fs:/srv/archive"] }, enabled: true },
  });
  await using browser = await testBrowser();
  const page = await browser.open(project, "plugins");
  await page.getByRole("link", { name: "Consent 1 waiting" }).click();
  await page.getByText("Version 1.9.0 → 2.1.0").waitFor();
  assert.deepEqual(await page.getByRole("checkbox").count(), 1);
  await page.getByRole("list", { name: "No longer asked for" }).getByText("read:fs:/srv/archive").waitFor();
  assert.equal(await page.getByRole("list", { name: "Granted before" }).getByRole("listitem").count(), 4);
  await page.getByRole("checkbox", { name: "Can use the whole network" }).check();
  await page.getByRole("button", { name: "Approve and start" }).click();
  await page.getByText("@harbor/web-clipper is installed").waitFor();
  assert.deepEqual(
    project.host.plugins().filter(({ plugin }) => plugin === "web-clipper").map((
      { version, state },
    ) => [version, state]),
    [["2.1.0", "running"]],
  );
});

test("K-055 an upgrade that cannot start is undone, and its card says so with the version that is installed", async (t) => {
  if (!await hasBrowser(t)) return;
  const { capabilities = [] } = CLIPPER;
  await using project = await consoleProject({
    installed: { manifest: { version: "1.9.0", capabilities }, enabled: true },
  });
  const program = join(project.dir, "plugins/web-clipper/index.js");
  await writeFile(program, `process.exit(3);\n${await readFile(program, "utf8")}`);
  await using browser = await testBrowser();
  const page = await browser.open(project, "consents");
  const card = page.getByRole("article", { name: "web-clipper" });
  // The files have changed since the host looked at them.
  await card.getByRole("button", { name: "Approve and start" }).click();
  await card.getByRole("alert").getByText("install.changed").waitFor();
  await card.getByRole("button", { name: "Approve and start" }).click();
  const alert = card.getByRole("alert").filter({ hasText: "install.upgrade_failed" });
  await alert.getByText('"web-clipper" is at 1.9.0 again: version 2.1.0 could not start').waitFor();
  await page.getByRole("link", { name: "Timeline" }).click();
  await page.locator("li.entry.bad summary", { hasText: "plugin.upgrade_undone" }).waitFor();
});

test("K-053 a request that comes while the page is open is seen at once", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject({ installed: { enabled: false } });
  await using browser = await testBrowser();
  const page = await browser.open(project, "consents");
  await page.getByText("Nothing waits for you").waitFor();
  // Another command takes the plugin, which does not run, from the project and notifies the host: nothing else happens.
  const local = join(project.home, "local.toml");
  await writeFile(local, (await readFile(local, "utf8")).replace('["harbor"]', "[]"));
  await project.host.reload("web-clipper");
  await page.getByRole("article", { name: "web-clipper" }).waitFor();
  await page.getByRole("link", { name: "Consent 1 waiting" }).waitFor();
});

test("a plugin can be started without the capabilities that are not ticked; its page lists them, and an upgrade offers them", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "consents");
  for (const box of await page.getByRole("checkbox").all()) await box.check();
  await page.getByRole("checkbox", { name: "Can use the whole network" }).uncheck();
  assert.equal(await page.getByRole("button", { name: "Approve and start" }).isDisabled(), true);
  await page.getByRole("button", { name: "Start without the unticked one" }).click();
  await page.getByText("@harbor/web-clipper is installed").waitFor();
  assert.deepEqual(project.host.view.plugin("web-clipper").withheld.map(({ capability }) => capability), ["net:*"]);
  await page.getByRole("link", { name: "Plugins" }).click();
  await page.getByRole("link", { name: "web-clipper" }).click();
  await page.getByRole("heading", { name: "Withheld by the operator" }).waitFor();
  await page.getByText("Cannot use the whole network").waitFor();

  await writeFile(
    join(project.home, "local.toml"),
    withoutProject(await readFile(join(project.home, "local.toml"), "utf8")),
  );
  await project.host.reload("web-clipper");
  await page.getByRole("link", { name: "Consent 1 waiting" }).click();
  const group = page.getByRole("group", { name: "You withheld; it stays so unless you tick it" });
  assert.equal(await group.getByRole("checkbox", { name: "Can use the whole network" }).isChecked(), false);
  assert.deepEqual(browser.complaints, []);
});

const withoutProject = (local: string): string => local.replace('["harbor"]', "[]");
