import assert from "node:assert/strict";
import { test } from "node:test";
import { hasBrowser, testBrowser } from "../support/browser.ts";
import { CLIPPER, consoleProject } from "../support/console_project.ts";

test("K-053 the consent screen tells in plain words what a plugin asks for, dangers marked, HTML as text", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "consents");
  const card = page.getByRole("article", { name: "web-clipper" });
  await card.getByText(CLIPPER.description!, { exact: true }).waitFor();
  assert.equal(await card.locator("img, b").count(), 0);
  assert.equal(await card.getByText("./plugins/web-clipper", { exact: true }).count(), 1);
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
  assert.deepEqual(project.host.plugins().filter(({ plugin }) => plugin === "web-clipper"), []);
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

test("K-053 declining installs nothing, and the request can still be approved later", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "consents");
  await page.getByRole("button", { name: "Decline web-clipper" }).click();
  await page.getByText("@harbor/web-clipper was declined").waitFor();
  assert.deepEqual(project.host.consents().map(({ state }) => state), ["declined"]);
  await page.getByRole("article").getByText("declined", { exact: true }).waitFor();
  for (const box of await page.getByRole("checkbox").all()) await box.check();
  await page.getByRole("button", { name: "Approve and start" }).click();
  await page.getByText("@harbor/web-clipper is installed").waitFor();
});
