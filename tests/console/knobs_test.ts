import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { hasBrowser, testBrowser } from "../support/browser.ts";
import { compactOnce, consoleProject, KNOBS, YAML } from "../support/console_project.ts";

const configOf = (host: Awaited<ReturnType<typeof consoleProject>>["host"], plugin: string) =>
  host.view.plugin(plugin).uses[0]!.config;

test("K-039 a knob turned in the console changes that one place of project.yaml and keeps its comments", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "plugins/memory-markdown/knobs");
  const form = page.getByRole("region", { name: "Knobs of memory-markdown for primary", exact: true });
  await form.getByRole("spinbutton", { name: "Memories at session start" }).fill("21");
  await form.getByRole("button", { name: "Save Memories at session start" }).click();
  await form.getByText("Saved to project.yaml").waitFor();
  const text = await readFile(join(project.dir, "project.yaml"), "utf8");
  assert.equal(text, YAML.replace("max_injected: 8 # fewer is calmer", "max_injected: 21 # fewer is calmer"));
  assert.equal(configOf(project.host, "memory-markdown").max_injected, 21);
});

test("K-039 a knob of each of the eight types is rendered from the manifest and written back", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "plugins/reply-tone/knobs");
  const save = async (label: string) => {
    await page.getByRole("button", { name: `Save ${label}` }).click();
    await page.locator("form", { has: page.getByText(label, { exact: true }) }).getByText("Saved to project.yaml")
      .waitFor();
  };
  assert.equal(new Set(Object.values(KNOBS).map(({ type }) => type)).size, 8);
  await page.getByRole("slider", { name: "Warmth" }).fill("0.25");
  await save("Warmth");
  await page.getByRole("spinbutton", { name: "Sentences" }).fill("7");
  await save("Sentences");
  await page.getByRole("combobox", { name: "Style" }).selectOption("As a poem");
  await save("Style");
  await page.getByRole("switch", { name: "Greet first" }).uncheck();
  await save("Greet first");
  for (
    const [label, text] of [
      ["Signature", "The harbour office"],
      ["House rules", "One.\nTwo: # no comment"],
      ["Model", "swift"],
      ["Glossary", "project:/words.md"],
    ] as const
  ) {
    await page.getByRole("textbox", { name: label }).fill(text);
    await save(label);
  }
  const expected = {
    style: "poem",
    warmth: 0.25,
    sentences: 7,
    greet: false,
    signature: "The harbour office",
    house_rules: "One.\nTwo: # no comment",
    model: "swift",
    glossary: "project:/words.md",
  };
  assert.deepEqual(configOf(project.host, "reply-tone"), expected);
  const { result } = await project.host.callMethod("reply-tone", "echo.config").then((result) => ({ result }));
  assert.deepEqual({ ...expected, ...result as object }, result);
  await page.getByRole("textbox", { name: "Model" }).fill("");
  await save("Model");
  assert.equal(configOf(project.host, "reply-tone").model, null);
  assert.deepEqual(browser.complaints, []);
});

test("a value that the host refuses is explained at its field, and the file stays as it was", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  const page = await browser.open(project, "plugins/reply-tone/knobs");
  const field = page.getByRole("spinbutton", { name: "Sentences" });
  await field.fill("40");
  await field.press("Enter");
  const error = page.getByRole("alert");
  await error.getByText("It is not between 1 and 12").waitFor();
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  const described = (await field.getAttribute("aria-describedby"))!.split(" ");
  assert.ok(described.includes((await error.getAttribute("id"))!));
  assert.equal(await readFile(join(project.dir, "project.yaml"), "utf8"), YAML);
  await page.getByRole("button", { name: "Undo Sentences" }).click();
  assert.deepEqual([await field.inputValue(), await error.count()], ["4", 0]);
});

test("K-069 the compactor view has the knobs of every plugin that compacts or observes, and the last compactions", async (t) => {
  if (!await hasBrowser(t)) return;
  await using project = await consoleProject();
  await using browser = await testBrowser();
  await compactOnce(project.host, "ses_first");
  const page = await browser.open(project, "compaction/primary");
  const settings = page.getByRole("region", { name: "Settings" });
  await settings.getByText("smart-compactor").waitFor();
  await settings.getByText("memory-markdown").waitFor();
  await page.getByText("by the compactor").waitFor();
  await page.getByText("We decided to move the north berth to Thursday.").waitFor();
  await page.getByRole("region", { name: "Knobs of memory-markdown for primary" }).waitFor();
  const digest = page.getByRole("region", { name: "Knobs of smart-compactor for primary" });
  await digest.getByRole("spinbutton", { name: "Length of the digest" }).fill("300");
  await digest.getByRole("button", { name: "Save Length of the digest" }).click();
  await digest.getByText("Saved to project.yaml").waitFor();
  assert.equal(configOf(project.host, "smart-compactor").digest_tokens, 300);

  await compactOnce(project.host, "ses_second");
  await page.getByRole("listitem").filter({ hasText: "threshold crossed" }).nth(1).waitFor();
  await page.getByRole("link", { name: "primary › researcher" }).click();
  await page.getByText("None yet").waitFor();
  await page.getByText("the host: old messages are dropped").waitFor();
});
