import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Folders with Markdown of ours. */
const FOLDERS = ["docs", "examples", "plugins", "sdk", "bench", "hookspec"];
/** Written by a command when somebody wants it. */
const WRITTEN_LATER = ["docs/api"];

async function markdownFiles(): Promise<string[]> {
  const files = (await readdir(root)).filter((name) => name.endsWith(".md"));
  for (const folder of FOLDERS) {
    const entries = await readdir(join(root, folder), { recursive: true });
    files.push(...entries.filter((entry) => entry.endsWith(".md")).map((entry) => `${folder}/${entry}`));
  }
  return files.filter((file) => !WRITTEN_LATER.some((folder) => file.startsWith(folder)));
}

/** The text without what is code: a link there is an example. */
const prose = (text: string): string =>
  text.replaceAll(/<!--.*?-->/gs, "").replaceAll(/^( *)(`{3,}).*?^ *\2$/gms, "").replaceAll(/`[^`\n]*`/g, "");

/** Targets of links, pictures and reference definitions. */
function linksOf(text: string): string[] {
  const inline = prose(text).matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g);
  const defined = prose(text).matchAll(/^\[[^\]]+\]: (\S+)$/gm);
  return [...inline, ...defined].map(([, target]) => target!);
}

/** Anchors of headings as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  const headings = text.replaceAll(/^( *)(`{3,}).*?^ *\2$/gms, "").matchAll(/^#+ (.+)$/gm);
  const seen = new Map<string, number>();
  return new Set([...headings].map(([, heading]) => {
    const anchor = heading!.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-");
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  }));
}

test("every link of our Markdown leads somewhere, and every anchor to a heading", async () => {
  const wrong: string[] = [];
  let checked = 0;
  for (const file of await markdownFiles()) {
    const text = await readFile(join(root, file), "utf8");
    for (const link of linksOf(text).filter((each) => !/^[a-z]+:/.test(each))) {
      checked++;
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? file : relative(root, join(root, dirname(file), path));
      const found = await stat(join(root, target)).catch(() => null);
      if (!found) wrong.push(`${file}: ${link} is not there`);
      else if (anchor !== undefined && !anchorsOf(await readFile(join(root, target), "utf8")).has(anchor)) {
        wrong.push(`${file}: ${link} has no such heading`);
      }
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(checked > 50, `${checked} links`);
});

test("docs/README.md leads to every page of docs/", async () => {
  const linked = new Set(
    linksOf(await readFile(join(root, "docs/README.md"), "utf8")).map((link) => link.split("#")[0]),
  );
  const pages = (await readdir(join(root, "docs"))).filter((name) => name.endsWith(".md") && name !== "README.md");
  assert.deepEqual(pages.filter((page) => !linked.has(page)), []);
});
