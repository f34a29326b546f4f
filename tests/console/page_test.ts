import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { CONSOLE_FILES } from "../../src/http/generated/console_files.ts";
import { hasBrowser, seriousFindings, testBrowser } from "../support/browser.ts";
import { until } from "../support/until.ts";
import { ASK_MAIL, compactOnce, type ConsoleProject, consoleProject, MAIL } from "../support/console_project.ts";

const VIEWS: Readonly<Record<string, string>> = {
  plugins: "512 MB",
  "plugins/memory-markdown": "Capabilities",
  "plugins/reply-tone/knobs": "House rules",
  "plugins/reply-tone/storage": "1 table",
  "plugins/reply-tone/log": "a line of the log",
  approvals: "Changed by signs before you were asked",
  "approvals/ended": "denied",
  "approvals/answers": "allow for this session",
  consents: "Can use the whole network",
  "compaction/primary": "Kept (",
  timeline: "plugin.initialized",
  audit: "plugin.initialized",
  jobs: "No agent runs jobs here",
};

test("axe finds nothing serious on any view in light or dark, and no view contacts another machine", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject({
    more: { "metrics-push": { fixture: "wrong_version", manifest: {} }, ...MAIL },
    config: ASK_MAIL,
  });
  const { host, address } = project;
  await askThrice(host);
  await compactOnce(host, "ses_first");
  await host.callMethod("reply-tone", "echo.log", { text: "a line of the log\n" });
  await host.callMethod("reply-tone", "echo.storage", { method: "exec", sql: "CREATE TABLE replies (id INTEGER)" });
  await using browser = await testBrowser();
  const examine = async (page: Page, place: string): Promise<void> => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await seriousFindings(page), [], `${place} in ${colorScheme}`);
    }
  };
  const page = await browser.open(project, "plugins");
  for (const [place, text] of Object.entries(VIEWS)) {
    await page.goto(`${address}/#/${place}`);
    await page.locator("main").getByText(text).and(page.locator(":not(option)")).first().waitFor();
    await examine(page, place);
  }
  const signIn = await browser.blank();
  await signIn.goto(address);
  await signIn.getByRole("textbox", { name: "Token" }).waitFor();
  await examine(signIn, "sign-in");
  assert.deepEqual([...new Set(browser.asked.map(({ origin }) => origin))], [address]);
  assert.deepEqual(browser.complaints, []);
});

test("without a token the page asks for it; a wrong one is refused; the link's token leaves the address at once", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.blank();
  await page.goto(project.address);
  const field = page.getByLabel("Token");
  await field.fill("wrong-wrong-wrong-wrong-wrong-wrong-wrong");
  await page.getByRole("button", { name: "Open the console" }).click();
  await page.getByRole("alert").getByText("The token is wrong").waitFor();
  await page.getByLabel("Token").fill(project.token);
  await page.getByRole("button", { name: "Open the console" }).click();
  await page.getByRole("heading", { name: "Plugins" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await field.waitFor();

  const linked = await browser.blank();
  await linked.goto(project.link);
  await linked.getByRole("heading", { name: "Plugins" }).waitFor();
  assert.equal(linked.url().includes(project.token), false);
  assert.equal(browser.asked.some(({ href }) => href.includes(project.token)), false);
});

test("everything is done with the keyboard alone: sign in, go to a view, acknowledge, approve", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.blank();
  await page.goto(project.address);
  await page.getByLabel("Token").waitFor();
  const { keyboard } = page;
  await tabTo(page, "Token");
  await keyboard.insertText(project.token);
  await keyboard.press("Enter");
  await page.getByRole("heading", { name: "Plugins", exact: true }).waitFor();
  await tabTo(page, "Consent");
  await keyboard.press("Enter");
  await page.getByRole("heading", { name: "Consent" }).waitFor();
  const boxes = page.getByRole("checkbox");
  for (let ticked = 0; ticked < 5; ticked++) {
    await tabTo(page, "Can ");
    await keyboard.press("Space");
  }
  assert.equal(await boxes.and(page.locator(":checked")).count(), 5);
  await tabTo(page, "Approve and start");
  assert.notEqual(await outlineOfFocus(page), "none");
  await keyboard.press("Enter");
  await page.getByText("@harbor/web-clipper is installed").waitFor();
});

test("the theme follows the system until the person chooses, and the choice stays", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "plugins", { colorScheme: "dark" });
  const ground = (): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
  const dark = await ground();
  await page.getByRole("button", { name: "Theme: system" }).click();
  await page.getByRole("button", { name: "Theme: light" }).waitFor();
  assert.notEqual(await ground(), dark);
  await page.reload();
  await page.getByRole("button", { name: "Theme: light" }).click();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  assert.equal(await ground(), dark);
});

test("what a first visit loads stays below 115 KB", () => {
  const weight = ["/", "/console.css", "/console.js", "/icon.svg"]
    .reduce((sum, path) => sum + new TextEncoder().encode(CONSOLE_FILES.get(path)!.text).length, 0);
  assert.ok(weight < 115_000, `${weight} bytes`);
});

/** Leaves one call denied, one allowed for its session, and one, which a hook has changed, waiting. */
async function askThrice(host: ConsoleProject["host"]): Promise<void> {
  host.hooks.register("PreToolUse", function signs({ input }) {
    return { action: "modify", modifiedInput: { ...input as object, body: "-- me" } };
  });
  const ask = async (session: string): Promise<string> => {
    host.openSession({ id: session }).callTool("mail.send", { to: session, list: [1, 2] }).catch(() => {});
    return await until(async () => (await host.approvals.list()).items[0]?.id, "the request") as string;
  };
  await host.approvals.answer(await ask("ses_1"), { decision: "deny" });
  await host.approvals.answer(await ask("ses_2"), { decision: "allow", scope: "session" });
  await ask("ses_3");
}

/** Presses Tab until what has the focus is called so. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    const focused: string = await page.evaluate(
      "((at) => at.labels?.[0]?.innerText ?? at.getAttribute('aria-label') ?? at.innerText)(document.activeElement)",
    );
    if (focused.startsWith(name)) return;
  }
  assert.fail(`Tab never came to "${name}"`);
}

function outlineOfFocus(page: Page): Promise<string> {
  return page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
}
