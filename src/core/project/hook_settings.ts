/**
 * `[hooks]` of `config.toml`: what the operator lets hook files do beyond the project's folder.
 *
 * @module
 */
import { parseCapability } from "../manifest/capability.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { shown } from "../values/shown_value.ts";
import type { DocumentReport } from "../documents/document_report.ts";
import { typeName } from "./values.ts";

/** What hooks of files may do on this machine. */
export interface HookSettings {
  /** Whom hooks may connect to: `host:port`. Default: nobody. */
  readonly network: readonly string[];
  /** Folders and files they may read besides the project. */
  readonly readable: readonly string[];
  /** Folders and files they may change besides the project. */
  readonly writable: readonly string[];
  /** Variables of the host's environment that they get. */
  readonly env: readonly string[];
  /** Whether they may change the project's `.git`. Default false: who writes there runs programs outside the cage. */
  readonly git_writable: boolean;
  /** Whether hooks of `.agent.md` files are used. Default false. */
  readonly agent_hooks: boolean;
  /** `cloud` leaves out what cloud agents do not have: user-level hooks, PowerShell, some moments. Default `cli`. */
  readonly surface: "cli" | "cloud";
  /** Hooks and files that are switched off, by id or by name. */
  readonly disable: readonly string[];
}

/** What holds where the operator says nothing. */
export const DEFAULT_HOOK_SETTINGS: HookSettings = {
  network: [],
  readable: [],
  writable: [],
  env: [],
  git_writable: false,
  agent_hooks: false,
  surface: "cli",
  disable: [],
};

const KEYS: readonly string[] = [...Object.keys(DEFAULT_HOOK_SETTINGS), "unsandboxed"];

/** Reads the table. A setting that is misspelt would not hold: unknown ones are refused. */
export function readHookSettings(table: Readonly<Record<string, unknown>>, report: DocumentReport): HookSettings {
  for (const key of Object.keys(table)) {
    if (KEYS.includes(key)) continue;
    const hint = didYouMean(key, KEYS, `Keys here: ${KEYS.join(", ")}`);
    report.error("config.unknown_key", ["hooks", key], { message: `Unknown key ${shown(key)}`, hint, part: "key" });
  }
  const { unsandboxed = false, surface = "cli" } = table;
  if (unsandboxed !== false) {
    report.error("config.invalid_value", ["hooks", "unsandboxed"], {
      message: "Hooks always run in a cage",
      hint: "Widen the cage with network, readable and writable",
    });
  }
  if (surface !== "cli" && surface !== "cloud") {
    const message = `Expected "cli" or "cloud", got ${shown(surface)}`;
    report.error("config.invalid_value", ["hooks", "surface"], { message });
  }
  return {
    network: texts(table, "network", report, (text) => capabilityProblem(`net:${text}`)),
    readable: texts(table, "readable", report, (text) => pathProblem("read", text)),
    writable: texts(table, "writable", report, (text) => pathProblem("write", text)),
    env: texts(table, "env", report, variableProblem),
    git_writable: flag(table, "git_writable", report),
    agent_hooks: flag(table, "agent_hooks", report),
    surface: surface === "cloud" ? surface : "cli",
    disable: texts(table, "disable", report, () => null),
  };
}

function texts(
  table: Readonly<Record<string, unknown>>,
  key: string,
  report: DocumentReport,
  problemOf: (text: string) => { readonly message: string; readonly hint?: string } | null,
): string[] {
  const list = table[key] ?? [];
  if (!Array.isArray(list)) {
    report.error("config.wrong_type", ["hooks", key], { message: `Expected a list of texts, got ${typeName(list)}` });
    return [];
  }
  return list.flatMap((text, index): string[] => {
    const at = ["hooks", key, index];
    const problem = typeof text === "string" ? problemOf(text) : { message: `Expected a text, got ${typeName(text)}` };
    if (problem === null) return [text as string];
    const { message, hint } = problem;
    report.error("config.invalid_value", at, { message, ...(hint !== undefined && { hint }) });
    return [];
  });
}

function flag(table: Readonly<Record<string, unknown>>, key: string, report: DocumentReport): boolean {
  const value = table[key] ?? false;
  if (typeof value === "boolean") return value;
  report.error("config.wrong_type", ["hooks", key], { message: `Expected true or false, got ${typeName(value)}` });
  return false;
}

function capabilityProblem(text: string): { message: string; hint?: string } | null {
  const read = parseCapability(text);
  if (!read.ok) return { message: read.problem.message, ...(read.problem.hint && { hint: read.problem.hint }) };
  const { capability } = read;
  const isOpen = capability.kind === "net" && capability.scope !== "host";
  return isOpen ? { message: "Hooks connect to named hosts only", hint: 'Write network = ["host:443"]' } : null;
}

function pathProblem(access: "read" | "write", path: string): { message: string; hint?: string } | null {
  if (!path.startsWith("/")) return { message: "The path is not absolute", hint: "Write it from the root: /srv/data" };
  return capabilityProblem(`${access}:fs:${path}`);
}

function variableProblem(name: string): { message: string; hint?: string } | null {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !name.startsWith("LD_")) return null;
  return {
    message: `${shown(name)} is no variable that may be handed on`,
    hint: "Use letters, digits and _, not LD_…",
  };
}
