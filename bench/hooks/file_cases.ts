/**
 * Reading what people write: a large project, and many manifests. Beside each stands the YAML library alone, on the
 * same text: what lies between is checking.
 *
 * @module
 */
import { parse } from "yaml";
import { parseManifest } from "../../src/core/manifest/read_manifest.ts";
import type { LocatedPlugin } from "../../src/core/project/locate.ts";
import { parseProject } from "../../src/core/project/read_project.ts";
import { resolveProject } from "../../src/core/project/resolve_project.ts";
import type { Repeat } from "./rounds.ts";

const AGENTS = 200;
const PLUGINS = 5;
const MANIFESTS = 1000;

/** Every case by name, with a way to do it for each implementation. */
export async function fileCases(): Promise<Record<string, Record<string, Repeat>>> {
  const project = projectText();
  const manifests = Array.from({ length: MANIFESTS }, (_, index) => manifestText(index));
  const located = await locatedPlugins();
  return {
    [`resolve ${AGENTS} agents × ${PLUGINS} plugins`]: {
      ours: repeated(async () => {
        const resolved = await resolveProject({
          project: await parseProject(project, { dir: "/bench" }),
          local: { file: "/bench/local.toml", records: new Map(), secrets: new Map(), models: new Map(), warnings: [] },
          locate: (pkg) => Promise.resolve(located.get(pkg) ?? null),
          env: () => null,
        });
        const found = resolved.agents.reduce((sum, { plugins }) => sum + plugins.length, 0);
        if (found !== AGENTS * PLUGINS) {
          throw new Error(`${found} plugins are resolved: ${resolved.refusals[0]?.error}`);
        }
      }),
      "yaml alone": repeated(() => parse(project)),
    },
    [`validate ${MANIFESTS.toLocaleString("en")} manifests`]: {
      ours: repeated(async () => {
        for (const text of manifests) await parseManifest(text, { file: "kaged-plugin.yaml" });
      }),
      "yaml alone": repeated(() => manifests.map((text) => parse(text))),
    },
  };
}

function repeated(once: () => unknown): Repeat {
  return async (count) => {
    for (let at = 0; at < count; at++) await once();
  };
}

function projectText(): string {
  const plugins = (indent: string, agent: number): string =>
    Array.from({ length: PLUGINS }, (_, index) =>
      [
        `${indent}p${index}:`,
        `${indent}  package: "@bench/plugin-${index}"`,
        `${indent}  hooks: [on_session_start, pre_compact]`,
        `${indent}  config: { budget: ${agent + index}, tags: [one, two] }`,
      ].join("\n")).join("\n");
  const subagents = Array.from(
    { length: AGENTS - 1 },
    (_, agent) => `    agent_${agent}:\n      plugins:\n${plugins("        ", agent)}`,
  );
  return `id: bench\nprimary:\n  plugins:\n${plugins("    ", 0)}\n  subagents:\n${subagents.join("\n")}\n`;
}

async function locatedPlugins(): Promise<Map<string, LocatedPlugin>> {
  const entries = Array.from({ length: PLUGINS }, async (_, index): Promise<[string, LocatedPlugin]> => {
    const parsed = await parseManifest(manifestText(index), { file: "kaged-plugin.yaml" });
    return [`@bench/plugin-${index}`, { dir: `/bench/plugins/plugin-${index}`, ...parsed }];
  });
  return new Map(await Promise.all(entries));
}

/** A manifest of the usual size: two tools, two hooks, config, a knob. */
function manifestText(index: number): string {
  return `name: plugin-${index}
version: 0.${index}.0
kaged_api: 1
description: Keeps what was said, number ${index}
author: Bench
license: MIT
command: [js, ./index.js]
capabilities:
  - read:fs:project:/notes
  - write:fs:config:/plugin-${index}
  - net:example.com:443
roles: [observer]
hooks: [on_session_start, pre_compact]
tools:
  - name: recall
    description: Finds what was kept
    parameters_schema:
      type: object
      properties:
        query: { type: string, minLength: 1 }
        limit: { type: integer, minimum: 1, maximum: 50, default: 10 }
      required: [query]
      additionalProperties: false
  - name: retain
    description: Keeps a text
    parameters_schema:
      type: object
      properties:
        text: { type: string }
        tags: { type: array, items: { type: string, pattern: "^[a-z]+$" } }
      required: [text]
config_schema:
  type: object
  properties:
    budget: { type: integer, minimum: 0, maximum: 100000, default: 2000 }
    tags: { type: array, items: { type: string } }
  additionalProperties: false
knobs:
  budget:
    type: int_range
    label: Budget
    description: Characters to put before the model
    binds_to: config.budget
    min: 0
    max: 100000
    step: 100
    default: 2000
`;
}
