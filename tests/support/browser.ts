/**
 * The console in a real browser.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { after, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { ConsoleProject } from "./console_project.ts";
import { requireOrSkip } from "./require_or_skip.ts";

/** The first that is there: a page of the one without windows costs a fifth. */
const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const PROGRAM = PROGRAMS.find((path) => existsSync(path));
/** Long for a slow machine; a wait that is met ends at once. */
const PATIENCE_MS = 30_000;

/** Started for the first test, ended after the last; where Bun ends it with a file, the next starts another. */
let started: Promise<Browser> | undefined;
after(async () => {
  const browser = await started;
  started = undefined;
  await browser?.close();
});

/** A test's own part of the browser: its pages share nothing with those of other tests, and are closed with it. */
export interface TestBrowser extends AsyncDisposable {
  /** Errors of pages: scripts that failed, rules of the page's policy that were broken. */
  readonly complaints: string[];
  /** Every address that was asked for. */
  readonly asked: URL[];
  /** Opens a page without a token. */
  blank(options?: BrowserContextOptions): Promise<Page>;
  /** Opens a view, signed in. */
  open(
    project: Pick<ConsoleProject, "address" | "link">,
    place: string,
    options?: BrowserContextOptions,
  ): Promise<Page>;
}

/** Whether there is a browser; otherwise the test is skipped. */
export function hasBrowser(t: TestContext): Promise<boolean> {
  return requireOrSkip(t, "chromium", PROGRAM !== undefined, "run sh scripts/setup.sh extras");
}

/** Gives a test its browser: `await using browser = await testBrowser()`. */
export async function testBrowser(): Promise<TestBrowser> {
  started ??= chromium.launch({ executablePath: PROGRAM!, args: ["--no-sandbox"] });
  const browser = await started;
  const pages: Page[] = [];
  const complaints: string[] = [];
  const asked: URL[] = [];
  async function blank(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await browser.newPage(options); // In a context of its own.
    pages.push(page);
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      // A refusal the host answers with is part of what tests try; the browser notes it by itself.
      const isAnswer = /^Failed to load resource/.test(message.text());
      if (message.type() === "error" && !isAnswer) complaints.push(message.text());
    });
    page.on("request", (request) => asked.push(new URL(request.url())));
    return page;
  }
  return {
    complaints,
    asked,
    blank,
    async open({ link, address }, place, options) {
      const page = await blank(options);
      await page.goto(link);
      await page.getByRole("status").getByText("live").waitFor();
      await page.goto(`${address}/#/${place}`);
      return page;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(pages.map((page) => page.close()));
    },
  };
}

const AXE: string = fileURLToPath(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url));

/** Returns what axe finds wrong on a page and calls serious or critical, each as `rule: target`. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(AXE, "utf8"));
  return await page.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ": " + target + " " + failureSummary)))`);
}
