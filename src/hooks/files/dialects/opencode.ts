/**
 * Command hooks around opencode: `experimental.hook` of `opencode.json`, which opencode itself has ceased to run, and
 * `.opencode/command-hooks.jsonc` of the plugin opencode-command-hooks. Neither can block, and neither has stdin.
 *
 * @module
 */
import type { DialectEvent, DialectSpec } from "./types.ts";

const QUIET = { matches: null, exit2: "ignore", may: [], fields: {} } as const;

/** The moments that both forms are turned into before they are read. */
const EVENTS: Readonly<Record<string, DialectEvent>> = {
  file_edited: {
    hook: "PostToolUse",
    only: ["write", "edit"],
    ...QUIET,
    matches: "filePath",
    env: { FILE: "filePath" },
  },
  session_completed: { hook: "SessionEnd", turnEnd: true, only: ["topLevel"], ...QUIET },
  "tool.before": { hook: "PreToolUse", ...QUIET, matches: "tool" },
  "tool.after": { hook: "PostToolUse", ...QUIET, matches: "tool" },
  "session.created": { hook: "SessionStart", ...QUIET },
  "session.start": { hook: "SessionStart", ...QUIET },
  "session.idle": { hook: "SessionEnd", turnEnd: true, ...QUIET },
};

/** The command hooks of opencode. */
export const OPENCODE: DialectSpec = {
  title: "opencode",
  places: {
    project: ["opencode.json", "opencode.jsonc", ".opencode/command-hooks.jsonc"],
    user: [
      ".config/opencode/opencode.json",
      ".config/opencode/opencode.jsonc",
      ".config/opencode/command-hooks.jsonc",
    ],
    plugin: [],
    managed: ["/etc/opencode/opencode.json", "/etc/opencode/opencode.jsonc"],
    userReadable: [".config/opencode/hooks"],
  },
  format: "jsonc",
  version: "none",
  events: EVENTS,
  leftOut: { "session.end": "its own plugin does not handle it either" },
  unknownEvent: "error",
  badEntry: "file",
  entry: {
    shape: "flat",
    bash: [],
    powershell: [],
    command: ["command"],
    program: [],
    timeout: [],
    unitMs: 1_000,
    env: "environment",
    type: "command",
    types: {},
    idle: [],
  },
  timeoutMs: 60_000,
  matcher: { names: null, split: /\|/ },
  exits: { ignored: true },
  answers: { decisions: [], input: [], output: [], context: [], shown: [] },
  env: {},
  tools: {
    shell: ["bash"],
    read: ["read"],
    write: ["write"],
    edit: ["edit", "apply_patch"],
    glob: ["glob"],
    grep: ["grep"],
    agent: ["task"],
    todo: ["todowrite"],
    fetch: ["webfetch"],
    search: ["websearch"],
    ask: ["question"],
  },
  mcpTool: "{server}_{tool}",
};
