/**
 * Changes to a cage that the network rules of a manifest ask for. Pure, like all parts of {@link compileCage}.
 *
 * @module
 */
import type { Capability } from "../../manifest/capability.ts";

/** A network rule of the manifest. */
export type NetRule = Extract<Capability, { kind: "net" }>;

/** A rule that names one host. */
export type HostRule = Extract<NetRule, { scope: "host" }>;

/**
 * `none`: an empty network of its own. `gated`: the same, with a way to the gatekeeper. `all`: the host's network. Unix
 * sockets may be opened in a gated cage only: its relay needs them.
 */
export type NetMode = "none" | "gated" | "all";

/** Returns the mode that the rules ask for. */
export function netMode(rules: readonly NetRule[]): NetMode {
  if (rules.some(({ scope }) => scope === "all")) return "all";
  return rules.some(({ scope }) => scope === "host") ? "gated" : "none";
}

/** Returns the rules that name a host. */
export function hostRules(rules: readonly NetRule[]): HostRule[] {
  return rules.filter((rule): rule is HostRule => rule.scope === "host");
}

/** Where a plugin finds the relay: a port of the cage's own, empty network. */
export const RELAY_PORT = 3128;
/** The gatekeeper's socket among the files of a start. */
export const SOCKET_FILE = "net.sock";
/** The relay's program among them. */
export const RELAY_FILE = "relay.mjs";
/** The relay's orders among them. */
export const RELAY_ORDERS_FILE = "relay.json";

/** Certificates: of use only to a plugin that may talk to someone. */
const CERTIFICATES = ["/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki", "/etc/ca-certificates"];
/** How names are found: of use only to a plugin that finds them itself. */
const RESOLVER = ["/etc/resolv.conf", "/etc/nsswitch.conf"];

/** Returns the files of `/etc` that are shown as far as the host has them. */
export function netFiles(rules: readonly NetRule[]): string[] {
  const mode = netMode(rules);
  return [...(mode === "none" ? [] : CERTIFICATES), ...(mode === "all" ? RESOLVER : [])];
}

/** Returns the variables that send programs to the relay. */
export function proxyEnv(rules: readonly NetRule[]): Record<string, string> {
  if (netMode(rules) !== "gated") return {};
  const [http, socks] = [`http://127.0.0.1:${RELAY_PORT}`, `socks5h://127.0.0.1:${RELAY_PORT}`];
  return {
    ...{ HTTP_PROXY: http, HTTPS_PROXY: http, http_proxy: http, https_proxy: http },
    ...{ ALL_PROXY: socks, all_proxy: socks, NO_PROXY: "", no_proxy: "" },
    // Node from 22.21 and 24.5 heeds the variables above only with this one.
    NODE_USE_ENV_PROXY: "1",
  };
}

/** The relay, and the host's own runtime as the relay runs on it. */
export interface RelayRuntime {
  /** Its executable, links resolved. */
  readonly executable: string;
  /** Arguments before the program. */
  readonly args: readonly string[];
  /** Text of the relay's program. */
  readonly program: string;
}

/** A command with its whole environment, and all that is needed to run it behind the relay. */
export interface RelayedProgram {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Mounts that show the relay in the cage. */
  readonly mounts: readonly { readonly source: string; readonly dest: string }[];
  /** Files to write for this start: name → text. */
  readonly files: Readonly<Record<string, string>>;
}

// The variables of the relay's own runtime. The plugin's are for the plugin alone: NODE_OPTIONS would run twice.
const RELAY_ENV = {
  PATH: "/usr/bin",
  LANG: "C.UTF-8",
  DENO_DIR: "/tmp/.deno",
  DENO_NO_PROMPT: "1",
  DENO_NO_UPDATE_CHECK: "1",
};

/** Puts the relay in front of a program where the rules ask for it; `runDir` holds the files of this start. */
export function relayed(
  program: Pick<RelayedProgram, "command" | "env">,
  rules: readonly NetRule[],
  { runDir, relay }: { readonly runDir: string; readonly relay: RelayRuntime },
): RelayedProgram {
  if (netMode(rules) !== "gated") return { ...program, mounts: [], files: {} };
  const inside = (name: string): string => `/.cage/${name}`;
  const { command, env } = program;
  const orders = { command, env, port: RELAY_PORT, socket: inside(SOCKET_FILE) };
  return {
    command: [inside("js"), ...relay.args, inside(RELAY_FILE), inside(RELAY_ORDERS_FILE)],
    env: RELAY_ENV,
    mounts: [
      { source: relay.executable, dest: inside("js") },
      ...[RELAY_FILE, RELAY_ORDERS_FILE, SOCKET_FILE].map((name) => ({
        source: `${runDir}/${name}`,
        dest: inside(name),
      })),
    ],
    files: { [RELAY_FILE]: relay.program, [RELAY_ORDERS_FILE]: JSON.stringify(orders) },
  };
}
