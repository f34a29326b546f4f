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
