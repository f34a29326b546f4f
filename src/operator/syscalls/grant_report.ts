/**
 * Holds a watched run against the plugin's capabilities: which were used, which it lacked, which would do.
 *
 * @module
 */
import type { CagePlaces } from "../../core/cage/cage.ts";
import type { NetEvent } from "../../core/cage/net/gatekeeper.ts";
import { grantOf, isGranted } from "../../core/cage/missing_grant.ts";
import { literalAddress } from "../../core/cage/net/judge_target.ts";
import { HEARD_PORTS, netMode, type NetRule, RELAY_PORT, standIns } from "../../core/cage/net/net_parts.ts";
import { forbiddenReason, isWithin } from "../../core/cage/path_rules.ts";
import { asAsked, type WantedHost, wantedHosts } from "../../core/cage/wanted_hosts.ts";
import { absolutePath } from "../../core/cage/wanted_paths.ts";
import { type Capability, formatCapability, readCapabilities } from "../../core/manifest/capability.ts";
import { storageAccess } from "../../core/manifest/capability_set.ts";
import type { Observed, ObservedPath } from "./read_strace.ts";

/** One declared capability, and whether the run used it. */
export interface GrantUse {
  readonly capability: string;
  /** Null when the run cannot show it. */
  readonly used: boolean | null;
  /** Some of the paths, hosts or programs it was used for. */
  readonly examples: readonly string[];
}

/** Something the plugin asked for and did not get. */
export interface Denial {
  readonly kind: "read" | "write" | "program" | "net" | "storage";
  /** The path, program or host, or the access to its storage. */
  readonly what: string;
  /** The capability that would grant it, or null when none can; `<port>` stands for a port that nobody saw. */
  readonly capability: string | null;
}

/** A run held against the plugin's capabilities. */
export interface GrantReport {
  /** Whether files were watched; without strace only network and programs are. */
  readonly files: boolean;
  /** Limits of the watch, and calls that failed, for the reader. */
  readonly notes: readonly string[];
  readonly grants: readonly GrantUse[];
  readonly denied: readonly Denial[];
  /** The smallest list of capabilities that covers the run. */
  readonly smallest: readonly string[];
}

/** A watched run of a plugin, to be held against its capabilities. */
export interface WatchedRun extends Pick<GrantReport, "files" | "notes"> {
  /** Capabilities as the manifest declares them. */
  readonly capabilities: readonly string[];
  /** Folders their paths are relative to. */
  readonly places: CagePlaces;
  readonly observed: Observed;
  /** Events of the gatekeeper. */
  readonly net: readonly NetEvent[];
  /** Texts of failed calls, and the plugin's stderr: they name hosts that it could not reach. */
  readonly texts: readonly string[];
  /** Arguments of its calls, as JSON: a URL in them completes the name of a host. */
  readonly args: string;
  /** Access to its storage that it asked for, granted or not. */
  readonly storage: ReadonlySet<"read" | "write">;
  /** The refused paths that exist on the host. */
  readonly existing: ReadonlySet<string>;
}

const MAX_EXAMPLES = 5;
const PROGRAM_PATH = /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/;

/** Returns the report of a watched run. */
export function grantReport(input: WatchedRun): GrantReport {
  const grants: GrantUse[] = [];
  const smallest = new Set<string>();
  for (const asked of readCapabilities(input.capabilities)) {
    const capability = formatCapability(asked);
    const use = useOf(asked, capability, input);
    const { examples } = use ?? { examples: [] };
    const used = use && examples.length > 0;
    grants.push({ capability, used, examples: examples.slice(0, MAX_EXAMPLES) });
    // A grant that nobody could see the use of stays.
    if (used !== false) (use?.smallest ?? [capability]).forEach((one) => smallest.add(one));
  }
  return { files: input.files, notes: input.notes, grants, denied: denials(input), smallest: [...smallest] };
}

/** Examples of a use, none where there was none, and the smallest capabilities for them; null when nobody looked. */
type Use = { readonly examples: readonly string[]; readonly smallest: readonly string[] } | null;

function useOf(asked: Capability, capability: string, input: WatchedRun): Use {
  switch (asked.kind) {
    case "storage": {
      const examples = [...input.storage].filter((access) => access === "read" || asked.access === "write");
      return { examples, smallest: [`kaged:storage:${examples.includes("write") ? "write" : "read"}`] };
    }
    case "exec": {
      const examples = input.observed.programs.filter((path) => PROGRAM_PATH.exec(path)?.[1] === asked.binary);
      return { examples, smallest: [capability] };
    }
    case "net":
      return netUse(asked, capability, input);
    case "fs":
      return input.files ? fsUse(asked, input) : null;
  }
}

function netUse(asked: NetRule, capability: string, { net, observed, files }: WatchedRun): Use {
  if (asked.scope !== "host") {
    if (asked.scope === "none") return { examples: ["no network"], smallest: [capability] };
    const examples = observed.addresses.map(({ address, port }) => `${address}:${port}`);
    return files ? { examples, smallest: [capability] } : null;
  }
  const opened = net.filter(({ kind, host, port }) =>
    kind === "opened" && host === asked.host && (asked.port === "*" || asked.port === port)
  ).map(({ host, port }) => `${host}:${port}`);
  return { examples: opened, smallest: opened.map((target) => `net:${target}`) };
}

function fsUse(asked: Extract<Capability, { kind: "fs" }>, { observed, places }: WatchedRun): Use {
  const root = absolutePath(asked.path, asked.path, places).path;
  const within = observed.paths.filter(({ path, ok }) => ok && isWithin(path, root));
  const read = within.filter(({ access }) => access === "read").map(({ path }) => path);
  // A file that is to be made cannot be granted before it is there: its folder can.
  const written = within.filter(({ access }) => access === "write").map(({ path }) => parentOf(path, root));
  const declared = (path: string): string => {
    const rest = path.slice(root.length);
    return asked.path.endsWith("/") ? `${asked.path}${rest.replace(/^\//, "")}` : `${asked.path}${rest}`;
  };
  const writeTo = asked.access === "write" && written.length > 0 ? common(written) : null;
  const readFrom = read.filter((path) => writeTo === null || !isWithin(path, writeTo));
  const smallest = [
    ...(readFrom.length > 0 ? [`read:fs:${declared(common(readFrom))}`] : []),
    ...(writeTo === null ? [] : [`write:fs:${declared(writeTo)}`]),
  ];
  return { examples: [...new Set(within.map(({ path }) => path))], smallest };
}

const parentOf = (path: string, root: string): string => path === root ? root : path.slice(0, path.lastIndexOf("/"));

/** The deepest path that holds all of them. */
function common(paths: readonly string[]): string {
  const [first = "", ...others] = paths.map((path) => path.split("/"));
  let depth = first.length;
  for (const other of others) {
    let same = 0;
    while (same < depth && first[same] === other[same]) same++;
    depth = same;
  }
  return (first as string[]).slice(0, depth).join("/") || "/";
}

/** Trees that every cage shows alike; runtimes and libraries look at them by themselves. */
const OF_THE_CAGE = ["/proc", "/sys", "/dev", "/.cage", "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share"];
const PROBES = [
  ...["/usr/local/lib", "/usr/local/share", "/usr/bin", "/usr/local/bin", "/etc/ld.so.cache", "/etc/ld.so.preload"],
  ...["/etc/localtime", "/etc/timezone", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf"],
  ...["/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/terminfo", "/etc/inputrc", "/etc/os-release", "/etc/hosts"],
];

/** Returns the refused paths that are worth a look at the host, programs among them. */
export function refusedPaths({ paths }: Observed): ObservedPath[] {
  const got = new Set(paths.filter(({ ok }) => ok).map(({ path }) => path));
  return paths.filter(({ path, ok, access }) => {
    if (ok || (access === "read" && got.has(path))) return false;
    if (PROGRAM_PATH.test(path)) return true;
    return ![...OF_THE_CAGE, ...PROBES].some((tree) => isWithin(path, tree));
  });
}

function denials(input: WatchedRun): Denial[] {
  const { observed, existing, places, net } = input;
  const found = new Map<string, Denial>();
  const add = (denial: Denial): void => void found.set(`${denial.kind} ${denial.what}`, denial);
  for (const { path, access } of refusedPaths(observed)) {
    const program = PROGRAM_PATH.exec(path)?.[1];
    const isThere = existing.has(path) || (access === "write" && existing.has(parentOf(path, "/")));
    if (!isThere) continue;
    if (program !== undefined) add({ kind: "program", what: program, capability: `exec:${program}:plugin:/` });
    else add({ kind: access, what: path, capability: grantFor(path, access, places) });
  }
  const access = storageAccess(input.capabilities);
  for (const wanted of input.storage) {
    if (access === "write" || access === wanted) continue;
    add({ kind: "storage", what: wanted, capability: `kaged:storage:${wanted}` });
  }
  for (const event of net) {
    // A lookup names no port, and the texts of errors are read below.
    if (event.kind !== "refused" || event.port === 0 || event.source === "error") continue;
    const { host, port, reason } = event;
    add({ kind: "net", what: `${host}:${port}`, capability: reason === "not-allowed" ? `net:${host}:${port}` : null });
  }
  for (const wanted of deniedHosts(input)) {
    const target = asAsked(wanted, input.args);
    const { host, port } = target;
    add({ kind: "net", what: port === null ? host : `${host}:${port}`, capability: grantOf(target) });
  }
  return [...found.values()];
}

/**
 * Hosts that the plugin asked for past the gatekeeper, or without any network, and was not granted. Where the port of a
 * name is known from elsewhere, the lookup of that name says nothing more.
 */
function deniedHosts(input: WatchedRun): WantedHost[] {
  const { capabilities, observed: { names }, texts, net, files } = input;
  const rules = netRules(capabilities);
  if (netMode(rules) === "all") return [];
  const addresses = deniedAddresses(input);
  const lookups = net.flatMap((event) => event.kind === "refused" && event.source === "lookup" ? [event.host] : []);
  const asked = [...names, ...lookups].map((host) => ({ host, port: null }));
  const named = [...wantedHosts(texts), ...asked].filter((one) => {
    // Of addresses strace saw more: whether somebody answered, and whether it was the plugin itself.
    return !(files && literalAddress(one.host) !== null) && !isGranted(one, rules);
  });
  const known = new Set([...named, ...net].filter(({ port }) => port !== null && port !== 0).map(({ host }) => host));
  return [...addresses, ...named.filter(({ host, port }) => port !== null || !known.has(host))];
}

/** Addresses past the relay: none of these connections can lead out of the cage. */
function deniedAddresses({ capabilities, observed: { addresses, ports } }: WatchedRun): WantedHost[] {
  const rules = netRules(capabilities);
  const direct = standIns(rules, true);
  const heard = netMode(rules) === "gated" ? HEARD_PORTS : [];
  return addresses.filter(({ address, port, ok }) => {
    // The relay stands there, and the gatekeeper has reported how it ended.
    if (heard.includes(port) || direct.some((place) => place.address === address && place.port === port)) return false;
    if (port === NAME_SERVER_PORT || (port === RELAY_PORT && isLoopback(address))) return false;
    // Its own servers are within the cage.
    return !isLoopback(address) || (ok !== true && !ports.includes(port) && !ports.includes(0));
  }).map(({ address, port }) => {
    // An address that a name stands for is that name, but for loopback: a grant of localhost is not one of 127.0.0.1.
    const standing = direct.find((place) => place.address === address && place.host !== "localhost")?.host;
    return { host: standing ?? (address.includes(":") ? `[${address}]` : address), port };
  });
}

const netRules = (capabilities: readonly string[]): NetRule[] =>
  readCapabilities(capabilities).filter((one): one is NetRule => one.kind === "net");

const NAME_SERVER_PORT = 53;
const isLoopback = (address: string): boolean => address.startsWith("127.") || address === "::1";

function grantFor(path: string, access: "read" | "write", places: CagePlaces): string | null {
  const target = access === "write" ? parentOf(path, "/") || "/" : path;
  return forbiddenReason(target, access, places) === null ? `${access}:fs:${target}` : null;
}
