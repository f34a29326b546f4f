/**
 * The official conformance suite, with a host as the client: every scenario passes, or is listed with the reason.
 *
 * @module
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { permits } from "../../../src/core/values/permits.ts";
import { compiledCode } from "../../support/compiled_code.ts";
import { scriptCommand } from "../../support/run_kaged.ts";
import { expectedFailure, NOTHING_CHECKED } from "./expected_client.ts";

const place = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const NODE = place("node_modules/.bin/node");
const CLIENT = place("tests/mcp/conformance/client.ts");
/** The suite runs on Node whatever the runtime of the client is. Each scenario is two processes. */
const AT_ONCE = 3;
const TIMEOUT_MS = 120_000;

/** The outcome of one scenario. */
interface Outcome {
  readonly scenario: string;
  readonly passed: number;
  readonly failed: number;
  readonly isPassed: boolean;
  readonly text: string;
}

async function run(suite: string, args: readonly string[]): Promise<{ code: number | null; text: string }> {
  const cwd = await mkdtemp(join(tmpdir(), "kaged-conformance-run-"));
  try {
    const { PATH = "" } = process.env;
    const env = { ...compiledCode, PATH, HOME: cwd, NODE_NO_WARNINGS: "1" };
    const child = spawn(NODE, [place(`node_modules/${suite}/dist/index.js`), ...args], { cwd, env });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => text += chunk);
    const [code] = await once(child, "close") as [number | null];
    return { code, text };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** Returns every scenario of a suite for clients. */
async function scenariosOf(suite: string): Promise<string[]> {
  const { text } = await run(suite, ["list", "--client"]);
  return [...text.matchAll(/^\s+- (\S+) \[/gm)].map(([, name]) => name!);
}

async function outcome(suite: string, scenario: string): Promise<Outcome> {
  const { command, args } = scriptCommand(CLIENT);
  const given = ["--command", [command, ...args].join(" "), "--scenario", scenario, "--timeout", `${TIMEOUT_MS}`];
  const { code, text } = await run(suite, ["client", ...given]);
  const [, passed = "0", , failed = "0"] = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(text) ?? [];
  return { scenario, passed: Number(passed), failed: Number(failed), isPassed: code === 0, text };
}

/** Scenarios in which the suite measures time: on a busy machine every client is late, so a failure is tried again. */
const TIMED: ReadonlySet<string> = new Set(["sse-retry"]);

async function outcomes(suite: string, scenarios: readonly string[]): Promise<Outcome[]> {
  const inTurn = permits(AT_ONCE);
  return await Promise.all(scenarios.map((scenario) =>
    inTurn(async () => {
      let found = await outcome(suite, scenario);
      for (let again = 0; again < 3 && !found.isPassed && TIMED.has(scenario); again++) {
        found = await outcome(suite, scenario);
      }
      return found;
    })
  ));
}

/** Returns what contradicts the lists: a failure that is not in them, and an entry that is wrong. */
function surprises(suite: string, found: readonly Outcome[]): string[] {
  return found.flatMap(({ scenario, isPassed, passed, text }) => {
    const isListed = expectedFailure(suite, scenario) !== null;
    if (isPassed && isListed) return [`${scenario} passes: take it off the list`];
    if (!isPassed && !isListed) return [`${scenario} fails:\n${text.slice(-3000)}`];
    const isEmpty = isPassed && passed === 0;
    if (isEmpty !== Object.hasOwn(NOTHING_CHECKED, scenario)) return [`${scenario}: ${passed} checks passed`];
    return [];
  });
}

/** Parts of a suite, so that none takes longer than a test may. */
const PARTS = 8;

/** Makes the tests of a suite. */
export function conformanceTests(suite: string): void {
  let list: Promise<string[]> | null = null;
  for (let part = 0; part < PARTS; part++) {
    test(`N-029 N-033 a host is a client as ${suite} has it, part ${part + 1}: what fails is listed`, async (t) => {
      const scenarios = await (list ??= scenariosOf(suite));
      const found = await outcomes(suite, scenarios.filter((_, index) => index % PARTS === part));
      for (const { scenario, isPassed, passed, failed } of found) {
        const reason = expectedFailure(suite, scenario) ?? NOTHING_CHECKED[scenario] ?? "";
        t.diagnostic(`| ${scenario} | ${isPassed ? "passes" : "fails"} | ${passed}/${passed + failed} | ${reason} |`);
      }
      assert.deepEqual(surprises(suite, found), []);
      assert.ok(scenarios.length > 20, `${scenarios.length} scenarios`);
    });
  }
}
