import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { hasBrowser, testBrowser } from "../support/browser.ts";
import { type ConsoleProject, consoleProject } from "../support/console_project.ts";

const SIZES = [{ viewport: { width: 1280, height: 800 } }, { viewport: { width: 390, height: 800 } }];

const asking = (): Promise<ConsoleProject> =>
  consoleProject({ more: { library: { fixture: "mcp_library", manifest: {} } }, mcp: { offers: ["elicitation"] } });

/** Has the server ask; resolves with what it was answered. */
async function elicit({ host }: ConsoleProject, tool: string): Promise<unknown> {
  const session = host.openSession();
  const { output } = await session.callTool(`library.${tool}`, {});
  await session.close();
  return JSON.parse((output as { content: { text: string }[] }).content[0]!.text);
}

const card = (page: Page): Locator => page.getByRole("article", { name: "Request for elicit" });

test("N-030 the form of an MCP server is filled in on the console's page, its mistakes named, wide and narrow", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await asking();
  await using browser = await testBrowser();
  for (const size of SIZES) {
    const page = await browser.open(project, "approvals", size);
    const answer = elicit(project, "elicit");
    await card(page).getByText("Where to?", { exact: true }).waitFor();
    assert.equal(await page.getByRole("radio").count(), 0, "an answer to a form holds for this form");
    assert.equal(await page.getByRole("spinbutton", { name: "copies" }).inputValue(), "1");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("alert").getByText("email: It is required").waitFor();
    await page.getByRole("textbox", { name: "E-mail" }).fill("ann@example.org");
    await page.getByRole("spinbutton", { name: "copies" }).fill("3");
    await page.getByRole("combobox", { name: "color" }).selectOption("Blue");
    await page.getByRole("checkbox", { name: "loud" }).check();
    const overhang = await page.evaluate(
      "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth",
    );
    assert.ok(overhang as number <= 0);
    await page.getByRole("button", { name: "Send" }).click();
    await card(page).getByRole("status").getByText(/^You allowed it at/).waitFor();
    const content = { email: "ann@example.org", copies: 3, color: "blue", loud: true };
    assert.deepEqual(await answer, { action: "accept", content });
    await page.close();
  }
  assert.deepEqual(browser.complaints, []);
});

test("N-030 a form is declined, and an address to open is a link that nobody has fetched", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await asking();
  await using browser = await testBrowser();
  const page = await browser.open(project, "approvals");
  const declined = elicit(project, "elicit");
  await page.getByRole("button", { name: "Decline" }).click();
  assert.deepEqual(await declined, { action: "decline" });
  const opened = elicit(project, "elicit_url");
  await page.getByRole("button", { name: "Next request" }).click();
  const link = card(page).getByRole("link", { name: "https://login.example/start?a=1" });
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
  await page.getByRole("button", { name: "I open it" }).click();
  assert.deepEqual(await opened, { action: "accept" });
  assert.deepEqual(browser.asked.filter(({ hostname }) => hostname !== "127.0.0.1"), []);
  assert.deepEqual(browser.complaints, []);
});
