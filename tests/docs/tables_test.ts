import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { payloadOf } from "../../src/addons/webhooks/payload.ts";
import { EVENT_NAMES, levelOf } from "../../src/events/types.ts";
import { PORTABLE_HOOKS } from "../../src/hooks/engine/names.ts";
import { ROUTES } from "../../src/http/routes/routes.ts";
import { parseOperatorConfig } from "../../src/core/project/operator_config.ts";
import { APPROVAL_RULES } from "../../src/core/project/tool_rules.ts";
import { TOLD } from "../support/told_events.ts";
import { guideBlock } from "./support/guides.ts";

const textOf = (guide: string): Promise<string> => readFile(new URL(`../../docs/${guide}`, import.meta.url), "utf8");

const rowsOf = async (guide: string): Promise<string[][]> =>
  (await textOf(guide)).split("\n").filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").map((cell) => cell.trim()));

test("docs/events.md names every event with its level", async () => {
  const rows = (await rowsOf("events.md")).map(([, name, level]) => [name!.replaceAll("`", ""), level]);
  assert.deepEqual(rows, EVENT_NAMES.map((name) => [name, levelOf(name)]));
});

test("T-013 docs/addons.md names what each event is stripped of", async () => {
  const told = new Map<string, string>();
  for (const [, names = "", fields = ""] of await rowsOf("addons.md")) {
    for (const [name] of names.matchAll(/[a-z]+:[a-z]+/g)) told.set(name, fields.replaceAll("`", ""));
  }
  for (const type of EVENT_NAMES) {
    const event = { type, ...TOLD[type], timestamp: "" } as Parameters<typeof payloadOf>[0];
    const [all, sent] = [payloadOf(event, true).data, payloadOf(event, false).data];
    const stripped = Object.keys(all).filter((field) => !(field in sent));
    const known = told.get(type)?.split(", ") ?? [];
    assert.deepEqual(known.sort(), stripped.sort(), type);
  }
});

test("B-001 docs/hooks.md names every moment", async () => {
  const named = [...(await textOf("hooks.md")).matchAll(/^\| `([A-Z]\w+)` +\|/gm)].map(([, name]) => name!);
  assert.deepEqual(named.toSorted(), PORTABLE_HOOKS.toSorted());
});

test("docs/http.md names every route, and no other", async () => {
  const named = [...(await textOf("http.md")).matchAll(/^\| `((?:GET|POST|PUT|DELETE) [^`]+)`/gm)].map(([, route]) =>
    route!
  );
  assert.deepEqual(named.sort(), ROUTES.map(({ method, path }) => `${method} ${path}`).sort());
});

test("docs/operating.md names every key of [[tool_rules]] and [approvals]", async () => {
  const names = (await rowsOf("operating.md")).map(([, name]) => name!.replaceAll("`", ""));
  const settings = Object.keys(APPROVAL_RULES).map((key) => `[approvals] ${key}`);
  const expected = ["tool", "agent", "project", "decision", ...settings];
  assert.deepEqual(names.filter((name) => expected.includes(name) || name.startsWith("[approvals]")), expected);
});

test("the settings in docs/http.md are those config.toml takes", async () => {
  const { http, warnings } = await parseOperatorConfig(await guideBlock("docs/http.md", "toml"), {
    file: "config.toml",
  });
  assert.deepEqual([Object.keys(http), warnings], [[
    "port",
    "host",
    "allowed_hosts",
    "calls_per_second",
    "trust_user_header",
  ], []]);
});
