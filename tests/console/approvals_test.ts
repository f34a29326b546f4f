import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { createHost } from "../../src/create_host.ts";
import { hasBrowser, testBrowser } from "../support/browser.ts";
import { ASK_MAIL, type ConsoleProject, consoleProject, MAIL } from "../support/console_project.ts";
import { until } from "../support/until.ts";

const WIDE = { viewport: { width: 1280, height: 800 } };
const NARROW = { viewport: { width: 390, height: 800 } };

const mailing = (): Promise<ConsoleProject> => consoleProject({ more: MAIL, config: ASK_MAIL });

/** Calls the tool, which then waits; `outcome` is what became of it, as text. */
async function send({ host }: ConsoleProject, args: Record<string, unknown>, session = "ses_1") {
  const open = host.view.sessions().includes(session) ? host.session(session) : host.openSession({ id: session });
  const before = (await host.approvals.list()).items.map(({ id }) => id);
  const outcome = open.callTool("mail.send", args).then(({ output }) => JSON.stringify(output), String);
  const id = await until(async () => {
    return (await host.approvals.list()).items.find((one) => !before.includes(one.id))?.id;
  }, "the request") as string;
  return { id, outcome };
}

const card = (page: Page): Locator => page.getByRole("article", { name: "Request for mail.send" });
const rows = (page: Page): Locator => page.getByRole("list", { name: /^Waiting calls/ }).getByRole("button");
const focused = (page: Page): Promise<string> =>
  page.evaluate("(document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText).trim()");
/** How far a page can be scrolled to the side. */
const overhang = (page: Page): Promise<number> =>
  page.evaluate("document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth");

/** Script that changes how often a page looks at the desk by itself. */
const looksEvery = (ms: number | "never"): string =>
  `const start = setInterval; window.setInterval = (look, ms) => ms !== 10000 ? start(look, ms) : ${
    ms === "never" ? 0 : `start(look, ${ms})`
  };`;

test("N-026 by mouse: a call appears in the badge and on the page as it comes, and is denied with a reason, wide and narrow", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await mailing();
  await using browser = await testBrowser();
  for (const size of [WIDE, NARROW]) {
    const page = await browser.blank(size);
    await page.addInitScript(looksEvery("never")); // So that events alone bring the page up to date.
    await page.goto(project.link);
    await page.getByRole("status").getByText("live").waitFor();
    const { outcome } = await send(project, { to: "pilots@harbor.example", urgent: true, cc: ["a", "b"] });
    await page.getByRole("link", { name: "Approvals 1 waiting" }).click();
    assert.equal(
      await page.getByRole("status", { name: "New requests" }).innerText(),
      "mail.send of primary waits for approval",
    );
    await card(page).getByText(/^(10:00|9:\d\d) left$/).waitFor();
    for (const text of ["mail", "ses_1", "rule config.toml:1", "pilots@harbor.example", "list, 2 items", "boolean"]) {
      assert.equal(await card(page).getByText(text, { exact: true }).count(), 1, text);
    }
    assert.ok(await overhang(page) <= 0);
    await page.getByRole("textbox", { name: "Reason" }).fill("Not on a Monday");
    await page.getByRole("button", { name: "Deny once" }).click();
    await card(page).getByRole("status").getByText(/^You denied it at [\d:]+\.$/).waitFor();
    assert.match(await outcome, /was denied by console: Not on a Monday/);
    await page.getByRole("link", { name: "Approvals", exact: true }).waitFor();
    assert.equal(await page.getByRole("button", { name: /^(Allow|Deny)/ }).count(), 0);
  }
  assert.deepEqual(browser.complaints, []);
});

test("N-026 by keyboard alone: move, edit, mend what is refused, allow; letters typed into a field stay there", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await mailing();
  await using browser = await testBrowser();
  for (const size of [WIDE, NARROW]) {
    const [first, second] = [await send(project, { to: "one" }), await send(project, { to: "two" })];
    const page = await browser.open(project, "approvals", size);
    const { keyboard } = page;
    await card(page).getByText("one", { exact: true }).waitFor();
    await keyboard.press("j");
    await card(page).getByText("two", { exact: true }).waitFor();
    assert.match(await focused(page), /^mail\.send/);
    await keyboard.press("ArrowUp");
    await card(page).getByText("one", { exact: true }).waitFor();

    await keyboard.press("?");
    await page.getByText("this help", { exact: true }).waitFor();
    await keyboard.press("Escape");
    await page.getByText("this help", { exact: true }).waitFor({ state: "detached" });

    await keyboard.press("e");
    const editor = page.getByRole("textbox", { name: "Arguments to send, as JSON" });
    assert.equal(await editor.inputValue(), '{\n  "to": "one"\n}');
    await keyboard.press("ControlOrMeta+a");
    await keyboard.type('{ "to": "jack", "urgent": ');
    await page.getByRole("alert").getByText("This is not JSON").waitFor();
    await keyboard.type('"very" }');
    await keyboard.press("Escape");
    assert.match(await focused(page), /^mail\.send/, "Escape leaves the editor, and the draft stays");
    await keyboard.press("a");
    assert.equal(await focused(page), "Allow once, as edited");
    assert.notEqual(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none");
    await keyboard.press("Enter");
    await page.getByRole("alert").getByText(/urgent: Expected boolean/i).waitFor();
    await keyboard.press("e");
    await keyboard.press("ControlOrMeta+a");
    await keyboard.type('{ "to": "jack", "urgent": true }');
    await keyboard.press("Escape");
    await keyboard.press("r");
    await keyboard.type("jade and a deed");
    assert.equal(await page.getByRole("textbox", { name: "Reason" }).inputValue(), "jade and a deed");
    await keyboard.press("Escape");
    await keyboard.press("a");
    await keyboard.press("Enter");
    await card(page).getByText(/^You allowed it at [\d:]+, with edited arguments\.$/).waitFor();
    const { to, urgent } = JSON.parse(await first.outcome).params;
    assert.deepEqual([to, urgent], ["jack", true]);

    await keyboard.press("j");
    await card(page).getByText("two", { exact: true }).waitFor();
    await keyboard.press("d");
    assert.equal(await focused(page), "Deny once");
    await keyboard.press("Enter");
    await card(page).getByText(/^You denied it/).waitFor();
    assert.match(await second.outcome, /was denied by console/);
    await page.close();
  }
  assert.deepEqual(browser.complaints, []);
});

test("N-026 hostile arguments are text: markup, escapes, other directions, look-alikes and a megabyte, folded until wanted", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await mailing();
  const body = `${"long ".repeat(200_000)}<b>the end</b>`;
  const args = {
    to: "p\u0430ypal@harbor.example",
    "<i>key</i>": "\u001b[31mred\u001b[0m exe.\u202egnp \u200bhidden",
    markup: "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>",
    body,
    nested: { "\u202e": ["<b>", { deep: true }] },
  };
  const { outcome, id } = await send(project, args);
  await using browser = await testBrowser();
  for (const size of [WIDE, NARROW]) {
    const page = await browser.open(project, "approvals", size);
    for (
      const text of [
        "p\\u0430ypal@harbor.example",
        "<i>key</i>",
        "\\u001b[31mred\\u001b[0m exe.\\u202egnp \\u200bhidden",
        args.markup,
      ]
    ) await card(page).getByText(text, { exact: true }).waitFor();
    await card(page).getByText("Parts are left out for their size.").waitFor();
    const value = card(page).getByRole("group", { name: "body", exact: true });
    assert.ok((await value.innerText()).length < 700);
    await card(page).getByRole("button", { name: /^Show all [\d,]+ characters of body$/ }).click();
    await card(page).getByRole("button", { name: "Fold body" }).waitFor();
    assert.equal((await value.innerText()).length, body.length);
    assert.ok((await value.innerText()).endsWith("<b>the end</b>"));
    assert.equal(await card(page).getByText("Parts are left out for their size.").count(), 0);
    assert.equal(await card(page).locator("img, b, i, script").count(), 0);
    assert.ok(await overhang(page) <= 0);
    assert.doesNotMatch(await page.title(), /taken/);
    await page.getByRole("button", { name: "Edit" }).click();
    const editor = page.getByRole("textbox", { name: "Arguments to send, as JSON" });
    assert.deepEqual(JSON.parse(await editor.inputValue()), args);
    const draft = await editor.inputValue();
    for (const hidden of "\u001b\u202e\u200b\u0430") {
      assert.equal(draft.includes(hidden), false, encodeURIComponent(hidden));
    }
    await page.close();
  }
  await project.host.approvals.answer(id, { decision: "deny" });
  await outcome;
  assert.deepEqual(browser.complaints, []);
});

test("N-026 the open request stays open and its buttons stay in place while others come and go", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await mailing();
  const { host } = project;
  await using browser = await testBrowser();
  for (const size of [WIDE, NARROW]) {
    const [first, second] = [await send(project, { to: "one" }), await send(project, { to: "two" })];
    const page = await browser.open(project, "approvals", size);
    await rows(page).nth(1).click();
    await card(page).getByText("two", { exact: true }).waitFor();
    const place = await page.getByRole("button", { name: "Allow once" }).boundingBox();
    await host.approvals.answer(first.id, { decision: "deny" }, { by: "cli" });
    const third = await send(project, { to: "three" });
    await page.getByRole("link", { name: "Approvals 2 waiting" }).waitFor();
    await rows(page).filter({ hasText: "three" }).waitFor();
    assert.deepEqual(await page.getByRole("button", { name: "Allow once" }).boundingBox(), place);

    // The open one is answered by another front end.
    await host.approvals.answer(second.id, { decision: "allow" }, { by: "cli" });
    await card(page).getByText(/^Answered elsewhere: allowed by cli at [\d:]+\.$/).waitFor();
    assert.equal(await page.getByRole("button", { name: /^(Allow|Deny)/ }).count(), 0);
    await page.getByRole("button", { name: "Next request" }).click();
    await card(page).getByText("three", { exact: true }).waitFor();

    // Another front end is faster by a moment: the page has not heard of it when the person clicks.
    await page.route("**/answer", async (route) => {
      await host.approvals.answer(third.id, { decision: "deny", reason: "Too late" }, { by: "cli" });
      await route.continue();
    });
    await page.getByRole("button", { name: "Allow once" }).click();
    await card(page).getByText(/^Answered elsewhere: denied by cli/).waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.match(await third.outcome, /denied by cli: Too late/);
    await Promise.all([first.outcome, second.outcome]);
    await page.close();
  }
  assert.deepEqual(browser.complaints, []);
});

test("N-026 a request that another host with the same store answers is seen, though no event of this host tells", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await mailing();
  await using other = await createHost({ project: project.dir, home: project.home, control: false });
  const { id, outcome } = await send(project, { to: "one" });
  await using browser = await testBrowser();
  const page = await browser.blank(WIDE);
  await page.addInitScript(looksEvery(50));
  await page.goto(project.link);
  await page.getByRole("status").getByText("live").waitFor();
  await page.goto(`${project.address}/#/approvals`);
  await card(page).getByText("one", { exact: true }).waitFor();
  await other.approvals.answer(id, { decision: "deny" }, { by: "other" });
  await card(page).getByText(/^Answered elsewhere: denied by other/).waitFor();
  assert.match(await outcome, /denied by other/);
});

test("N-026 an answer for a session is listed and revoked; one for good becomes a rule; what ended is read page by page", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await mailing();
  const { host } = project;
  host.hooks.register("PreToolUse", function signs({ input }) {
    return (input as { to: string }).to === "signed"
      ? { action: "modify", modifiedInput: { to: "signed", body: "-- me" } }
      : null;
  });
  await using browser = await testBrowser();
  const page = await browser.open(project, "approvals", WIDE);
  await page.getByText("Nothing waits for you").waitFor();
  const first = await send(project, { to: "signed" });
  const changes = card(page).getByRole("region", { name: "Changes" });
  await changes.getByText("Changed by signs before you were asked").waitFor();
  assert.equal((await changes.getByRole("insertion").innerText()).trim(), "+ -- me");
  await page.getByRole("radio", { name: "for this session" }).check();
  await page.getByRole("button", { name: "Allow for this session" }).click();
  await card(page).getByText(/^You allowed it for this session/).waitFor();
  await first.outcome;
  await host.session("ses_1").callTool("mail.send", { to: "again" });

  await page.getByRole("link", { name: "Standing answers" }).click();
  await page.getByText("allow for this session").waitFor();
  await page.getByRole("button", { name: "Revoke the answer for mail.send" }).click();
  await page.getByText("Calls of mail.send are asked about again").waitFor();
  await page.getByText("No answer holds for later calls").waitFor();

  for (let at = 0; at < 30; at++) {
    const { id, outcome } = await send(project, { to: `mail ${at}` });
    await host.approvals.answer(id, { decision: "deny", reason: `reason ${at}` }, { by: "cli" });
    await outcome;
  }
  await page.getByRole("link", { name: "Ended" }).click();
  const ended = page.getByRole("list", { name: /^Ended requests/ }).locator("> li");
  await ended.nth(24).waitFor();
  assert.equal(await ended.count(), 25);
  await page.getByRole("button", { name: "Older requests" }).click();
  await ended.nth(30).waitFor();
  await ended.first().locator("summary").click();
  await ended.first().getByText(/^denied by cli/).waitFor();
  await ended.first().getByText("reason 29", { exact: true }).waitFor();
  await ended.first().getByText("mail 29", { exact: true }).waitFor();

  await page.getByRole("link", { name: "Waiting", exact: true }).click();
  const last = await send(project, { to: "always" });
  await page.getByRole("radio", { name: "always" }).check();
  await page.getByRole("button", { name: "Allow always" }).click();
  await card(page).getByText(/^You allowed it always/).waitFor();
  await last.outcome;
  const config = await readFile(join(project.home, "config.toml"), "utf8");
  assert.match(
    config,
    /^\[\[tool_rules\]\]\ntool = "mail\.send"\nagent = "primary"\nproject = "harbor"\ndecision = "allow"/,
  );
  assert.deepEqual(browser.complaints, []);
});

test("N-027 a job that waits for a person says so, and leads to the request", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await mailing();
  const { host } = project;
  host.agent("primary", async ({ tools }) => JSON.stringify(await tools.call("mail.send", { to: "pilots" })));
  await using browser = await testBrowser();
  const page = await browser.open(project, "jobs", NARROW);
  const { id } = await host.jobs.start({ agentName: "primary", input: "Write to the pilots" });
  const job = page.getByRole("row").filter({ hasText: "Write to the pilots" });
  await job.getByText("Waiting for approval of").waitFor();
  await job.getByRole("link", { name: "mail.send" }).click();
  await card(page).getByText("pilots", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Allow once" }).click();
  await card(page).getByText(/^You allowed it/).waitFor();
  assert.equal((await host.jobs.finished(id)).status, "completed");
  assert.deepEqual(browser.complaints, []);
});
