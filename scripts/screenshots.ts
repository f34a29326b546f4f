/**
 * Makes the pictures of the console in docs/img, of a real host in a real browser.
 *
 *   npm run screenshots
 *   npm run screenshots -- --out <folder>
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium, type Page } from "playwright-core";
import {
  ASK_MAIL,
  CLIPPER,
  compactOnce,
  type ConsoleProject,
  consoleProject,
  MAIL,
} from "../tests/support/console_project.ts";

const { values: { out } } = parseArgs({ options: { out: { type: "string", default: "docs/img" } } });
const SIZE = { width: 1180, height: 760 };

/** A picture: which view, and what is done there first. */
interface Picture {
  readonly name: string;
  readonly place: string;
  readonly dark?: boolean;
  readonly narrow?: boolean;
  /** Whether it is of a project that asks for another version. */
  readonly isUpgrade?: boolean;
  ready(page: Page): Promise<void>;
}

const PICTURES: readonly Picture[] = [
  { name: "console-plugins", place: "plugins", ready: (page) => heading(page, "Plugins") },
  { name: "console-plugins-dark", place: "plugins", dark: true, ready: (page) => heading(page, "Plugins") },
  { name: "console-plugins-narrow", place: "plugins", narrow: true, ready: (page) => heading(page, "Plugins") },
  {
    name: "console-approvals",
    place: "approvals",
    ready: (page) => page.getByRole("heading", { name: "Changed by signature before you were asked" }).waitFor(),
  },
  {
    name: "console-approvals-narrow",
    place: "approvals",
    narrow: true,
    ready: (page) => page.getByRole("heading", { name: "Changed by signature before you were asked" }).waitFor(),
  },
  {
    name: "console-consent",
    place: "consents",
    async ready(page) {
      await page.getByRole("checkbox").nth(0).check();
      await page.getByRole("checkbox").nth(1).check();
      await page.getByText("3 left to acknowledge").waitFor();
    },
  },
  {
    name: "console-upgrade",
    place: "consents",
    isUpgrade: true,
    ready: (page) => page.getByText("Version 1.9.0 → 2.1.0").waitFor(),
  },
  {
    name: "console-knobs",
    place: "plugins/reply-tone/knobs",
    async ready(page) {
      await page.getByRole("spinbutton", { name: "Sentences" }).fill("40");
      await page.getByRole("button", { name: "Save Sentences" }).click();
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "console-plugin",
    place: "plugins/memory-markdown",
    ready: (page) => page.getByRole("heading", { name: "Capabilities" }).waitFor(),
  },
  {
    name: "console-compaction",
    place: "compaction/primary",
    ready: (page) => page.getByText("Kept (").first().waitFor(),
  },
  {
    name: "console-timeline",
    place: "timeline",
    async ready(page) {
      await page.getByRole("listitem").getByText("plugin.spawned").first().click();
      await page.getByRole("button", { name: "Pause" }).click();
    },
  },
  {
    name: "console-storage",
    place: "plugins/reply-tone/storage",
    ready: (page) => page.getByText("2 tables").waitFor(),
  },
  { name: "console-log", place: "plugins/link-preview/log", ready: (page) => page.getByRole("log").waitFor() },
  { name: "console-jobs", place: "jobs", ready: (page) => page.getByText("2 jobs").waitFor() },
];

async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole("heading", { name, exact: true }).waitFor();
  await page.getByText("failed").first().waitFor();
}

/** Gives the host something to show. */
async function live({ host }: ConsoleProject): Promise<void> {
  const storage = (method: string, sql: string): Promise<unknown> =>
    host.callMethod("reply-tone", "echo.storage", { method, sql });
  await storage("exec", "CREATE TABLE replies (id INTEGER PRIMARY KEY, text TEXT)");
  await storage("exec", "CREATE TABLE tones (name TEXT PRIMARY KEY, weight REAL)");
  for (let at = 0; at < 40; at++) {
    await storage("exec", `INSERT INTO replies (text) VALUES ('${"Berth 4 is free. ".repeat(12)}')`);
  }
  await storage("exec", "INSERT INTO tones VALUES ('calm', 0.7), ('brisk', 0.3)");
  for (const session of ["ses_morning", "ses_noon"]) await compactOnce(host, session);
  for (let crash = 0; crash < 3; crash++) {
    const again = started(host, "link-preview");
    await host.callMethod("link-preview", "fixture.call").catch(() => {});
    await again;
  }
  host.agent(
    "primary",
    ({ input }) =>
      input.startsWith("Wait")
        ? new Promise(() => {})
        : Promise.resolve({ output: "Berth 4 is free from 14:00." }) as never,
  );
  await host.jobs.start({ agentName: "primary", input: "Which berth is free this afternoon?" });
  await host.jobs.start({ agentName: "primary", input: "Wait for the tide table and sum it up" });
}

/** Leaves three calls waiting for a person. */
async function askThrice({ host }: ConsoleProject): Promise<void> {
  host.hooks.register("PreToolUse", function signature({ input }) {
    const { body, ...rest } = input as { body: string };
    return { action: "modify", modifiedInput: { ...rest, body: `${body}\n-- \nHarbor office, pier 4` } };
  });
  const mails = [
    { to: "pilots@harbor.example", subject: "North berth", body: "The north berth moves to Thursday, 14:00." },
    { to: "tower@harbor.example", subject: "Crane 2", body: "Crane 2 is out of service until Monday." },
    { to: "p\u0430ypal@harbor.example", subject: "\u202eInvoice", body: "<b>Pay today</b>" },
  ];
  const session = host.openSession({ id: "ses_evening" });
  const asked = new Promise<void>((resolve) => {
    let left = mails.length;
    host.approvals.on(({ type }) => type === "requested" && --left === 0 && resolve());
  });
  // They wait until the host stops.
  for (const mail of mails) session.callTool("mail.send", mail).catch(() => {});
  await asked;
}

/** Resolves when a plugin's next start is complete. */
function started(host: ConsoleProject["host"], name: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = host.onAudit((event) => {
      if (event.type !== "plugin.initialized" || event.name !== name) return;
      stop();
      resolve();
    });
  });
}

await using project = await consoleProject({
  more: {
    "link-preview": { fixture: "crashes_on_call", manifest: { version: "0.9.3", description: "Previews of links" } },
    "metrics-push": { fixture: "wrong_version", manifest: { version: "3.0.1", description: "Pushes figures" } },
    ...MAIL,
  },
  config: ASK_MAIL,
});
await live(project);
await askThrice(project);
const kept = CLIPPER.capabilities!.filter((capability) => capability !== "net:*");
await using upgrading = await consoleProject({
  installed: { manifest: { version: "1.9.0", capabilities: [...kept, "read:fs:/srv/archive"] }, enabled: true },
});
await mkdir(out, { recursive: true });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const picture of PICTURES) await take(picture, picture.isUpgrade ? upgrading : project);
  const page = await browser.newPage({ viewport: SIZE, colorScheme: "light" });
  await page.goto(project.address);
  await page.getByLabel("Token").waitFor();
  await page.screenshot({ path: join(out, "console-sign-in.png") });
} finally {
  await browser.close();
}

async function take(picture: Picture, { link, address }: ConsoleProject): Promise<void> {
  const { name, place, dark = false, narrow = false, ready } = picture;
  const viewport = narrow ? { width: 420, height: 860 } : SIZE;
  const page = await browser.newPage({ viewport, colorScheme: dark ? "dark" : "light" });
  page.setDefaultTimeout(10_000);
  await page.goto(link);
  await page.getByRole("heading", { name: "Plugins", exact: true }).waitFor();
  await page.goto(`${address}/#/${place}`);
  await ready(page);
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(out, `${name}.png`) });
  await page.close();
}
