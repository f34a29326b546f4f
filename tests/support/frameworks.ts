/**
 * Agent frameworks in tests: the real packages, which `sh scripts/setup.sh extras` installs in tools/frameworks, and a
 * host whose plugin has a tool for each thing they pass on.
 *
 * @module
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import type { Host, Session } from "../../src/host/types.ts";
import { type Hosted, hosted, type HostedOptions } from "./hosted.ts";
import { requireOrSkip } from "./require_or_skip.ts";

const TOOLS = new URL("../../tools/frameworks/", import.meta.url);

/** Brings in the tests of a framework, `tools/frameworks/tests/<name>.ts`, where its package is installed. */
export async function frameworkTests(name: string, npmPackage: string): Promise<void> {
  if (existsSync(new URL(`node_modules/${npmPackage}/package.json`, TOOLS))) {
    await import(new URL(`tests/${name}.ts`, TOOLS).href);
    return;
  }
  test(`N-034 the adapter for ${npmPackage} with the real package`, async (t) => {
    await requireOrSkip(t, npmPackage, false, "sh scripts/setup.sh extras installs it in tools/frameworks");
  });
}

/** A host with the plugin `toolbox`, for the primary and for its subagent `helper`, and an open session. */
export interface FrameworkHost extends Hosted {
  readonly host: Host;
  readonly session: Session;
}

/** Rules of the operator: a person is asked about `erase`, nobody may have `secret`. */
const RULES = `[[tool_rules]]
tool = "toolbox.erase"
decision = "ask"

[[tool_rules]]
tool = "toolbox.secret"
decision = "deny"
`;

/** Makes the host: `await using h = await frameworkHost()`. */
export async function frameworkHost(options: HostedOptions = {}): Promise<FrameworkHost> {
  const plugins = { toolbox: { package: "@test/toolbox" } };
  const made = await hosted({
    yaml: {
      primary: {
        plugins,
        compaction: { strategy: "drop", keep_last: 2 },
        subagents: { helper: { plugins } },
      },
    },
    fixtures: { "@test/toolbox": "toolbox" },
    config: RULES,
    ...options,
  });
  return Object.assign(made, { session: made.host.openSession() });
}

/** Returns a list that fills with the events of a host about models and delegations, without times and durations. */
export function heardSteps(host: Host): object[] {
  const heard: object[] = [];
  for (const event of ["model:call", "delegate:start", "delegate:end"] as const) {
    host.on(event, ({ timestamp: _, ...fields }) => {
      const { duration, ...rest } = fields as { duration?: number };
      if (event !== "delegate:start") assert.ok(typeof duration === "number" && duration >= 0, `${event}: ${duration}`);
      heard.push({ event, ...rest });
    });
  }
  return heard;
}
