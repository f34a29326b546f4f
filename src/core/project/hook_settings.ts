/**
 * `[hooks]` of `config.toml`: rights that the operator gives hook files beyond the project's folder.
 *
 * @module
 */
import { parseCapability } from "../manifest/capability.ts";
import { shown } from "../values/shown_value.ts";
import { any, rule, type SettingProblem, type SettingRules } from "./setting_rules.ts";

/** Rights of hook files on this machine. */
export interface HookSettings {
  /** Hosts that hooks may connect to, as `host:port`. Default: none. */
  readonly network: readonly string[];
  /** Folders and files they may read besides the project. */
  readonly readable: readonly string[];
  /** Folders and files they may change besides the project. */
  readonly writable: readonly string[];
  /** Variables of the host's environment that they get. */
  readonly env: readonly string[];
  /** Whether they may change the project's `.git`. Default false: git runs programs named there outside the cage. */
  readonly git_writable: boolean;
  /** Whether hooks of `.agent.md` files are used. Default false. */
  readonly agent_hooks: boolean;
  /** `cloud` leaves out what cloud agents do not have: user-level hooks, PowerShell, some moments. Default `cli`. */
  readonly surface: "cli" | "cloud";
  /** Folders of other agents' plugins whose hooks run in every project, once they are trusted. Default: none. */
  readonly plugins: readonly string[];
  /** Hooks and files that are switched off, by id or by name. */
  readonly disable: readonly string[];
  /** Turn markers that injected text must not carry, beside the usual ones: those of plugins and of hooks alike. */
  readonly turn_markers: readonly string[];
}

/** Settings of a machine without a `[hooks]` table. */
export const DEFAULT_HOOK_SETTINGS: HookSettings = {
  network: [],
  readable: [],
  writable: [],
  env: [],
  git_writable: false,
  agent_hooks: false,
  surface: "cli",
  plugins: [],
  disable: [],
  turn_markers: [],
};

/** The rules of the settings in `[hooks]`. */
export const HOOK_RULES: SettingRules<keyof HookSettings> = {
  network: { kind: "list", problem: (host) => capabilityProblem(`net:${host}`) },
  readable: { kind: "list", problem: (path) => pathProblem("read", String(path)) },
  writable: { kind: "list", problem: (path) => pathProblem("write", String(path)) },
  env: { kind: "list", problem: (name) => variableProblem(String(name)) },
  git_writable: any("flag"),
  agent_hooks: any("flag"),
  surface: rule("text", (value) => value === "cli" || value === "cloud", 'It is neither "cli" nor "cloud"'),
  plugins: { kind: "list", problem: (path) => pathProblem("read", String(path)) },
  disable: any("list"),
  turn_markers: rule("list", (marker) => String(marker).trim().length > 1, "A marker has fewer than two characters"),
};

/** `unsandboxed` of other hosts: only `false` is true here. */
export const UNSANDBOXED_RULES: SettingRules = {
  unsandboxed: rule(
    "flag",
    (value) => value === false,
    "Hooks always run in a cage",
    "Widen the cage with network, readable and writable",
  ),
};

function capabilityProblem(text: string): SettingProblem | null {
  const read = parseCapability(text);
  if (!read.ok) return read.problem;
  const { capability } = read;
  const isOpen = capability.kind === "net" && capability.scope !== "host";
  return isOpen ? { message: "Hooks connect to named hosts only", hint: 'Write network = ["host:443"]' } : null;
}

function pathProblem(access: "read" | "write", path: string): SettingProblem | null {
  if (!path.startsWith("/")) return { message: "The path is not absolute", hint: "Write it from the root: /srv/data" };
  return capabilityProblem(`${access}:fs:${path}`);
}

function variableProblem(name: string): SettingProblem | null {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !name.startsWith("LD_")) return null;
  const message = `${shown(name)} is no variable that may be handed on`;
  return { message, hint: "Use letters, digits and _, not LD_…" };
}
