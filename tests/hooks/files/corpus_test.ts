import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { parseHookFile } from "../../../src/hooks/files/parse_hook_file.ts";
import type { Issue } from "../../../src/core/project/types.ts";

const corpus = fileURLToPath(new URL("../../corpora/real-world-configs/", import.meta.url));
const outcomes = fileURLToPath(new URL("./corpus_outcomes.json", import.meta.url));

/** The file under the path it has in its repository: the name spells it, `__` for each `/`. */
const published = (name: string): string => `/${name.replaceAll("__", "/")}`;

async function outcomeOf(folder: string, name: string): Promise<unknown> {
  const text = await readFile(`${corpus}${folder}/${name}`, "utf8");
  const short = ({ code, path, message, hint, line }: Issue): string => `${line} ${code} ${path}: ${message} (${hint})`;
  try {
    const { dialect, hooks, tools, warnings } = await parseHookFile(text, { file: published(name) });
    return {
      dialect,
      hooks: hooks.map(({ line, hook, nativeName, timeoutMs, matcher }) =>
        [line, hook, nativeName, `${timeoutMs} ms`, ...(matcher === undefined ? [] : [matcher])].join(" ")
      ),
      ...(tools.length > 0 && { tools: tools.map(({ line, hook, tool }) => `${line} ${hook} ${tool}`) }),
      ...(warnings.length > 0 && { warnings: warnings.map(short) }),
    };
  } catch (error) {
    assert.ok(error instanceof HostError, String(error));
    assert.equal(error.code, "hook.invalid");
    return { refused: (error.data as { issues: Issue[] }).issues.map(short) };
  }
}

test("B-007 every published hook file loads as its dialect, or is refused with a reason, as committed", async () => {
  const actual: Record<string, unknown> = {};
  for (const folder of ["hooks", "manifests"]) {
    const names = (await readdir(`${corpus}${folder}`)).sort();
    for (const name of names.filter((name) => folder === "hooks" || name.endsWith(".mcp.json"))) {
      actual[name] = await outcomeOf(folder, name);
    }
  }
  assert.ok(Object.keys(actual).length > 20);
  assert.deepEqual(actual, JSON.parse(await readFile(outcomes, "utf8")));
});

const agentFiles = fileURLToPath(new URL("../../corpora/hook-files/", import.meta.url));
const table = fileURLToPath(new URL("./hook_files_outcomes.json", import.meta.url));

/** How one published file is read: whole, in part, or not, with the reasons. */
interface Reading {
  readonly read: "whole" | "part" | "not";
  /** Hooks that run, of the dialect that the file was taken for. */
  readonly hooks?: string;
  /** Why something of it, or all of it, does not run. */
  readonly why?: readonly string[];
}

async function readingOf(folder: string, name: string): Promise<Reading> {
  const text = await readFile(`${agentFiles}${folder}/${name}`, "utf8");
  const path = name.split("__").slice(2).join("/");
  try {
    const { dialect, hooks, unused = [], warnings } = await parseHookFile(text, {
      file: `/repository/${path}`,
      name: path,
    });
    const count = `${hooks.length} of ${dialect}`;
    const off = warnings.filter(({ code }) => code === "hook.all_disabled").map(({ message }) => message);
    const why = [...new Set([...unused.map(({ reason }) => reason), ...off])];
    return why.length === 0 ? { read: "whole", hooks: count } : { read: "part", hooks: count, why };
  } catch (error) {
    assert.ok(error instanceof HostError, `${name}: ${error}`);
    assert.equal(error.code, "hook.invalid", name);
    const { issues } = error.data as { issues: Issue[] };
    return { read: "not", why: issues.slice(0, 3).map(({ line, code, message }) => `${line} ${code}: ${message}`) };
  }
}

test("N-038 230 published hook files of seven agents are read whole, in part or not, each with the reason, as committed", async () => {
  const actual: Record<string, Reading> = {};
  for (const folder of (await readdir(agentFiles)).filter((name) => !name.includes(".")).sort()) {
    for (const name of (await readdir(`${agentFiles}${folder}`)).sort()) {
      actual[`${folder}/${name}`] = await readingOf(folder, name);
    }
  }
  const wanted = JSON.parse(await readFile(table, "utf8"));
  assert.deepEqual(actual, wanted.files);
  const counts: Record<string, Record<Reading["read"], number>> = {};
  for (const [name, { read }] of Object.entries(actual)) {
    (counts[name.split("/")[0]!] ??= { whole: 0, part: 0, not: 0 })[read]++;
  }
  assert.deepEqual(counts, wanted.counts);
  assert.ok(Object.keys(actual).length >= 230);
});
