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

/** Where a plugin finds the relay as a proxy: a port of the cage's own, empty network. */
export const RELAY_PORT = 3128;
const RELAY_ADDRESS = "127.0.0.1";
/** The gatekeeper's socket among the files of a start. */
export const SOCKET_FILE = "net.sock";
/** The relay's program among them. */
export const RELAY_FILE = "relay.mjs";
/** The relay's orders among them. */
export const RELAY_ORDERS_FILE = "relay.json";
/** Among them: how the C library finds names. Without it, older ones ask a name server first and give up at its silence. */
const NAMES_FILE = "nsswitch.conf";
/** Among them: the relay as the cage's name server. */
const RESOLVER_FILE = "resolv.conf";
/** Where the relay answers questions about names: an address that stands for no host, so that any port 53 can be granted. */
export const RESOLVER_ADDRESS = "127.255.255.53";
/** The port of name servers. */
export const RESOLVER_PORT = 53;
/** The name of every cage. */
export const CAGE_NAME = "cage";

/** Certificates: of use only to a plugin that may talk to someone. */
const CERTIFICATES = ["/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki", "/etc/ca-certificates"];
/** How names are found: of use only to a plugin that finds them itself. */
const RESOLVER = ["/etc/resolv.conf", "/etc/nsswitch.conf"];

/** Returns the files of `/etc` that are shown as far as the host has them. */
export function netFiles(rules: readonly NetRule[]): string[] {
  const mode = netMode(rules);
  return [...(mode === "none" ? [] : CERTIFICATES), ...(mode === "all" ? RESOLVER : [])];
}

/** An address and port of the cage's own network that stand for a host and its port: the relay listens there. */
export interface StandIn {
  readonly address: string;
  readonly port: number;
  readonly host: string;
}

/** Hosts of this machine, with their addresses. */
const LOOPBACK: Readonly<Record<string, readonly string[]>> = {
  "localhost": ["127.0.0.1", "::1"],
  "127.0.0.1": ["127.0.0.1"],
  "[::1]": ["::1"],
};
/**
 * Ports on which the relay hears connections to any address, in a network of the launcher's: those of the usual services
 * below 1024, where programs of the cage do not listen themselves. What was not granted is refused by the gatekeeper.
 */
export const HEARD_PORTS: readonly number[] = [21, 22, 25, 80, 110, 143, 443, 465, 587, 853, 993, 995];
const FIRST_OPEN_PORT = 1024;

/**
 * Returns where the relay stands in for granted hosts. Each name has an IPv4 address to itself: IPv6 has one loopback
 * address alone. Other addresses stand for themselves where the network is the launcher's, which makes all of them
 * local. A host with a rule for every port is left to the proxy.
 */
export function standIns(rules: readonly NetRule[], hasLowPorts: boolean): StandIn[] {
  if (netMode(rules) !== "gated") return [];
  const found = new Map<string, StandIn>();
  let names = 1;
  for (const [host, ports] of portsByHost(rules)) {
    const isName = !/^(\[.*|[0-9.]+|localhost)$/.test(host);
    if (isName) names++;
    const itself = hasLowPorts ? [host.replace(/[[\]]/g, "")] : [];
    const addresses = isName ? [`127.0.${names >> 8}.${names & 255}`] : LOOPBACK[host] ?? itself;
    for (const port of new Set(ports)) {
      for (const address of addresses) {
        const isTaken = port === RELAY_PORT && address === RELAY_ADDRESS;
        if (isTaken || (port < FIRST_OPEN_PORT && !hasLowPorts)) continue;
        const place = `${address} ${port}`;
        if (!found.has(place)) found.set(place, { address, port, host });
      }
    }
  }
  return [...found.values()];
}

/** The ports granted of each host whose rules name them one by one. */
function portsByHost(rules: readonly NetRule[]): Map<string, number[]> {
  const ports = new Map<string, number[]>();
  const whole = new Set<string>();
  for (const { host, port } of hostRules(rules)) {
    if (port === "*") whole.add(host);
    else ports.set(host, [...(ports.get(host) ?? []), port]);
  }
  for (const host of whole) ports.delete(host);
  return ports;
}

/** Returns the names that lead to the places of {@link standIns}, with their addresses. */
export function standInNames(direct: readonly StandIn[]): Record<string, string> {
  const named = direct.filter(({ host }) => !Object.hasOwn(LOOPBACK, host) && !/^(\[.*|[0-9.]+)$/.test(host));
  return Object.fromEntries(named.map(({ host, address }) => [host, address]));
}

/**
 * Returns the variables that send programs to the relay as to a proxy: for hosts that are not granted, so that the
 * refusal can name them, and for those that cannot be reached otherwise.
 */
export function proxyEnv(rules: readonly NetRule[], direct: readonly StandIn[]): Record<string, string> {
  if (netMode(rules) !== "gated") return {};
  const http = `http://${RELAY_ADDRESS}:${RELAY_PORT}`;
  // Past the proxy go all ports of a host, or none: few clients know another form of this list.
  const past = [...portsByHost(rules)].filter(([host, ports]) =>
    ports.every((port) => direct.some((place) => place.host === host && place.port === port))
  ).map(([host]) => host.replace(/[[\]]/g, "")).join();
  return {
    ...{ HTTP_PROXY: http, HTTPS_PROXY: http, http_proxy: http, https_proxy: http },
    // Not socks5h://, which the gatekeeper speaks too: Python's httpx would not even start without one more package.
    ...{ ALL_PROXY: http, all_proxy: http, NO_PROXY: past, no_proxy: past },
    // Node from 22.21 and 24.5 heeds the variables above only with this one.
    NODE_USE_ENV_PROXY: "1",
  };
}

/** The relay, and the program that starts JavaScript files as the relay runs on it. */
export interface RelayRuntime {
  /** Its executable, links resolved. */
  readonly executable: string;
  /** Arguments before the program. */
  readonly args: readonly string[];
  /** Variables that it needs. */
  readonly env: Readonly<Record<string, string>>;
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

/**
 * Puts the relay in front of a program where the rules ask for it, at the places of `direct`; `runDir` holds its files.
 * It is the name server of the cage where `hasLowPorts`.
 */
export function relayed(
  program: Pick<RelayedProgram, "command" | "env">,
  rules: readonly NetRule[],
  { runDir, relay, direct, hasLowPorts }: {
    readonly runDir: string;
    readonly relay: RelayRuntime | null;
    readonly direct: readonly StandIn[];
    readonly hasLowPorts: boolean;
  },
): RelayedProgram {
  if (relay === null || netMode(rules) !== "gated") return { ...program, mounts: [], files: {} };
  const inside = (name: string): string => `/.cage/${name}`;
  const { command, env } = program;
  const names = { localhost: RELAY_ADDRESS, [CAGE_NAME]: RELAY_ADDRESS, ...standInNames(direct) };
  const resolver = hasLowPorts ? { address: RESOLVER_ADDRESS, port: RESOLVER_PORT, names } : null;
  const heard = hasLowPorts ? HEARD_PORTS : [];
  const orders = { command, env, port: RELAY_PORT, socket: inside(SOCKET_FILE), standIns: direct, heard, resolver };
  const etc = {
    [NAMES_FILE]: "hosts: files dns\n",
    ...(resolver && { [RESOLVER_FILE]: `nameserver ${RESOLVER_ADDRESS}\n` }),
  };
  return {
    command: [inside("js"), ...relay.args, inside(RELAY_FILE), inside(RELAY_ORDERS_FILE)],
    env: { ...RELAY_ENV, ...relay.env },
    mounts: [
      { source: relay.executable, dest: inside("js") },
      ...[RELAY_FILE, RELAY_ORDERS_FILE, SOCKET_FILE].map((name) => ({
        source: `${runDir}/${name}`,
        dest: inside(name),
      })),
      ...Object.keys(etc).map((name) => ({ source: `${runDir}/${name}`, dest: `/etc/${name}` })),
    ],
    files: {
      [RELAY_FILE]: relay.program,
      [RELAY_ORDERS_FILE]: JSON.stringify(orders),
      ...etc,
    },
  };
}
