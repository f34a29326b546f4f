/**
 * The conformance suites of MCP, run against a server.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MCP_TOKEN, ROOT } from "../../support/mcp_http.ts";

/** Version of a suite → the package it is installed as. */
export const SUITES = {
  "0.1.16": "mcp-conformance-0.1",
  "0.2.0-alpha.12": "@modelcontextprotocol/conformance",
} as const;

/** A version of the suite. */
export type Suite = keyof typeof SUITES;

/** The outcome of a scenario: the checks that were not met, with what the suite says of each. */
export interface ScenarioOutcome {
  readonly checks: number;
  readonly unmet: readonly string[];
}

const SEND_TOKEN: string = fileURLToPath(new URL("send_token.mjs", import.meta.url));

/** Runs the suite with `args` and returns what it printed. */
export async function runSuite(suite: Suite, args: readonly string[], cwd: string): Promise<string> {
  const program = join(ROOT, "node_modules", SUITES[suite], "dist/index.js");
  // Not the runtime of the test: the suite is a program for Node, whatever serves it.
  const child = spawn(join(ROOT, "node_modules/.bin/node"), ["--import", SEND_TOKEN, program, ...args], {
    cwd,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", KAGED_MCP_TOKEN: MCP_TOKEN },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => printed += chunk);
  await once(child, "close");
  return printed;
}

/** Runs scenarios against a server; returns the outcome of each by its name. */
export async function serverScenarios(
  suite: Suite,
  { url, dir, args }: { readonly url: string; readonly dir: string; readonly args: readonly string[] },
): Promise<Map<string, ScenarioOutcome>> {
  const printed = await runSuite(suite, ["server", "--url", url, "-o", dir, ...args], dir);
  const outcomes = new Map<string, ScenarioOutcome>();
  for (const folder of (await readdir(dir)).sort()) {
    const [, name] = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(folder) ?? [];
    if (name === undefined) continue;
    outcomes.set(name, outcomeOf(JSON.parse(await readFile(join(dir, folder, "checks.json"), "utf8"))));
  }
  if (outcomes.size === 0) throw new Error(`The suite ran no scenario: ${printed.slice(-2_000)}`);
  return outcomes;
}

/** Names of the server scenarios that belong to extensions of the protocol. */
export async function extensionScenarios(suite: Suite, dir: string): Promise<string[]> {
  const [servers = ""] = (await runSuite(suite, ["list"], dir)).split("Client scenarios");
  return [...servers.matchAll(/^ +- (\S+) \[extension\]$/gm)].map(([, name]) => name!);
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** A warning is a check that was not met either: of a SHOULD. */
function outcomeOf(checks: readonly Check[]): ScenarioOutcome {
  const unmet = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const isMet = checks.some(({ id, status }) => status === "SUCCESS" && !id.startsWith("wire-schema-"));
  if (!isMet && unmet.length === 0) return { checks: checks.length, unmet: ["the scenario checked nothing"] };
  return { checks: checks.length, unmet: unmet.map(({ id, errorMessage = "" }) => `${id}: ${errorMessage}`) };
}
