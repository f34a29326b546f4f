/** A small hookspec to test with, and its issues in short. */
import { readdir, readFile } from "node:fs/promises";
import { HostError } from "../../src/core/errors/host_error.ts";
import type { DocumentIssue } from "../../src/core/documents/document_report.ts";
import { parseHookspec } from "../../src/hookspec/parse_hookspec.ts";
import type { Hookspec, KindSpec } from "../../src/hookspec/types.ts";

const HOOK = `  - name: greet
    dispatch: singleton
    description: Says hello.
    input_schema: schemas/greet.input.json
    output_schema: schemas/greet.output.json
    mcp_exposed: false
`;

/** The least kind that makes sense: its hook begins on line 5. */
export const KIND_TEXT: string = `kind: greeter
kind_api_version: 1.2.3
description: Greets people.
hooks:
${HOOK}`;

const CLASSES = ["singleton", "broadcast_collect", "broadcast_notify", "chain", "capability"];

/** A hookspec with one hook. */
export const SAMPLE: Readonly<Record<string, string>> = {
  "_meta/dispatch_classes.yaml": `dispatch_classes:\n${
    CLASSES.map((name) => `  - { name: ${name}, description: One way }\n`).join("")
  }`,
  "kinds/greeter/v1.yaml": KIND_TEXT,
  "kinds/greeter/schemas/greet.input.json": schemaText({
    type: "object",
    properties: { name: { type: "string" } },
    required: ["name"],
  }),
  "kinds/greeter/schemas/greet.output.json": schemaText({ type: "string" }),
};

/** A schema as the text of its file: each key of the outermost map on a line of its own, from line 2. */
export function schemaText(schema: unknown): string {
  return JSON.stringify(schema, null, 2);
}

/** The sample with some files changed; null removes one. */
export function changed(files: Readonly<Record<string, string | null>>): Map<string, string> {
  const all = Object.entries({ ...SAMPLE, ...files });
  return new Map(all.filter((entry): entry is [string, string] => entry[1] !== null));
}

/** The sample with another schema of what its hook takes. */
export function withInput(schema: unknown, more: Readonly<Record<string, string>> = {}): Map<string, string> {
  return changed({ "kinds/greeter/schemas/greet.input.json": schemaText(schema), ...more });
}

/** The sample with another schema of what its hook gives. */
export function withOutput(schema: unknown, more: Readonly<Record<string, string>> = {}): Map<string, string> {
  return changed({ "kinds/greeter/schemas/greet.output.json": schemaText(schema), ...more });
}

/** The only kind of a hookspec. */
export async function kindOf(texts: ReadonlyMap<string, string>): Promise<KindSpec> {
  return (await parseHookspec(texts)).kinds[0]!;
}

/** What is wrong with a hookspec, in full. */
export async function issuesOf(texts: ReadonlyMap<string, string>): Promise<DocumentIssue[]> {
  try {
    await parseHookspec(texts);
    return [];
  } catch (thrown) {
    if (thrown instanceof HostError && thrown.code === "hookspec.invalid") {
      return (thrown.data as { issues: DocumentIssue[] }).issues;
    }
    throw thrown;
  }
}

/** What is wrong with a hookspec: `code file:line:column path`. */
export async function problems(texts: ReadonlyMap<string, string>): Promise<string[]> {
  return (await issuesOf(texts)).map(({ code, file, line, column, path }) => {
    return `${code} ${file.split("/").at(-1)}:${line}:${column} ${path}`.trim();
  });
}

/** The texts of this project's own hookspec. */
export async function ownTexts(): Promise<Map<string, string>> {
  const root = new URL("../../hookspec/", import.meta.url);
  const paths = (await readdir(root, { recursive: true })).filter((path) =>
    /^(?:_meta|kinds)\/.*\.(?:yaml|json)$/.test(path)
  );
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(new URL(path, root), "utf8")] as const)),
  );
}

/** This project's own hookspec. */
export async function ownHookspec(): Promise<Hookspec> {
  return await parseHookspec(await ownTexts());
}
