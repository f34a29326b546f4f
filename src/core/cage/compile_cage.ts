/**
 * Request and facts → the whole argument list of bubblewrap. Pure: nothing here looks at the disk, and a test compares
 * the whole list. The order matters, later mounts cover earlier ones.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { readCapabilities } from "../manifest/capability.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { CagePlaces, CageRequest } from "./cage.ts";
import type { CageFacts, CagePlan, ExecutableMount, GrantedPath, RootEntry } from "./cage_plan.ts";
import { HOSTS_FD, SECCOMP_FD, STATUS_FD } from "./launcher.ts";
import { DEFAULT_LIMITS } from "./limits/cage_limits.ts";
import { rlimitPart } from "./limits/limit_parts.ts";
import {
  CAGE_NAME,
  netFiles,
  netMode,
  type NetRule,
  proxyEnv,
  relayed,
  standInNames,
  standIns,
} from "./net/net_parts.ts";
import { NETWORK_FILE } from "./net/own_network.ts";
import { trustParts } from "./net/trust_parts.ts";
import { hasPrivateHome, homeArgs, PRIVATE_HOME } from "./private_home.ts";
import { seccompProgram } from "./seccomp/seccomp_program.ts";
import { configFiles } from "./wanted_paths.ts";

const MIB = 1024 * 1024;
/** Where programs stand that the system's folders have not, in a cage that shows those whole. */
export const PROGRAMS_DIR = "/.cage/bin";
/** The system's folders of programs, with the links some of them go by. */
const SYSTEM_PROGRAMS = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/etc/alternatives"];
/** Names that every cage knows. */
const HOSTS = "127.0.0.1 localhost\n::1 localhost\n";

/** Returns the plan for one start. Throws `manifest.invalid` when the manifest cannot be put into arguments. */
export function compileCage(request: CageRequest, facts: CageFacts): CagePlan {
  const { manifest, places, logLevel, limits = DEFAULT_LIMITS, systemPrograms = false, overlays = [] } = request;
  const { bwrap, command, grants, installDir, rootEntries, tier } = facts;
  const programs = systemPrograms ? besideSystem(command.mounts) : command.mounts;
  const net = readCapabilities(manifest.capabilities).filter((asked): asked is NetRule => asked.kind === "net");
  const shown = { ...places, installDir: installDir.path };
  const trust = trustParts(facts.trust ?? null, facts.runDir);
  // Bubblewrap makes the network unless the relay has to listen where only the maker of the network can let it.
  const ownNetwork = facts.hostNetwork !== null && netMode(net) === "gated";
  const direct = standIns(net, ownNetwork);
  const set = { ...manifest, env: { ...manifest.env, ...request.env, ...command.env } };
  const own = cageEnv(set, { places: shown, logLevel, proxy: { ...proxyEnv(net, direct), ...trust.env } });
  const program = relayed({ command: command.argv, env: own }, net, { ...facts, direct, hasLowPorts: ownNetwork });
  const rlimits = rlimitPart(tier, limits, [...command.mounts, ...program.mounts], systemPrograms);
  const args = [
    ...namespaceArgs(bwrap.flags, netMode(net) === "all" || ownNetwork),
    "--clearenv",
    ...Object.entries(program.env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...skeletonArgs(rootEntries, systemPrograms),
    ...etcArgs(net),
    ...kernelArgs(bwrap.flags),
    ...(hasPrivateHome(manifest) ? homeArgs(limits, bwrap.flags.has("--size")) : []),
    ...programs.flatMap(executableArgs),
    ...grants.flatMap(grantArgs),
    // After the grants: a writable folder around the plugin's own must not make it writable.
    ...grantArgs(installDir),
    ...overlays.flatMap(({ source, dest }) => ["--ro-bind", source, dest]),
    ...[...program.mounts, ...trust.mounts].flatMap(executableArgs),
    ...rlimits.args,
    "--remount-ro",
    "/",
    "--chdir",
    installDir.path,
    "--json-status-fd",
    `${STATUS_FD}`,
    "--seccomp",
    `${SECCOMP_FD}`,
  ];
  refuseNul([...args, ...command.argv, ...Object.values(own)], manifest.name);
  return {
    bwrap: bwrap.path,
    args,
    command: [...rlimits.prefix, ...program.command],
    hosts: [HOSTS, ...Object.entries(standInNames(direct)).map(([name, at]) => `${at} ${name}\n`)].join(""),
    seccomp: seccompProgram(facts.arch, { allowUnix: netMode(net) === "gated" }),
    limits,
    tier,
    granted: [...grants, installDir],
    net,
    ownNetwork,
    files: {
      ...program.files,
      ...trust.files,
      ...(ownNetwork ? { [NETWORK_FILE]: `${facts.hostNetwork}\n` } : {}),
    },
  };
}

function namespaceArgs(flags: ReadonlySet<string>, keepsNetwork: boolean): string[] {
  return [
    // Asked for by name: for root, bubblewrap would go without a user namespace.
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    ...(keepsNetwork ? [] : ["--unshare-net"]),
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(flags.has("--disable-userns") ? ["--disable-userns"] : []),
    "--die-with-parent",
    "--new-session",
    ...["--cap-drop", "ALL"],
    ...["--uid", "65534", "--gid", "65534"],
    ...["--hostname", CAGE_NAME],
  ];
}

function skeletonArgs(rootEntries: readonly RootEntry[], systemPrograms: boolean): string[] {
  return [
    ...["/etc", "/usr"].flatMap(dirArgs),
    ...(systemPrograms ? SYSTEM_PROGRAMS.flatMap((path) => ["--ro-bind-try", path, path]) : dirArgs("/usr/bin")),
    ...["--ro-bind", "/usr/lib", "/usr/lib"],
    ...["/usr/lib64", "/usr/share", "/usr/local/lib"].flatMap((path) => ["--ro-bind-try", path, path]),
    ...rootEntries.flatMap(({ path, link }) => {
      if (link !== null) return ["--symlink", link, path];
      return systemPrograms || path.startsWith("/lib") ? ["--ro-bind", path, path] : dirArgs(path);
    }),
  ];
}

/** Returns the mounts of programs that the system's folders do not show, at a place of their own. */
function besideSystem(mounts: readonly ExecutableMount[]): ExecutableMount[] {
  return mounts.flatMap((mount) => {
    if (!mount.dest.startsWith("/usr/bin/")) return [mount];
    const dest = `${PROGRAMS_DIR}/${mount.dest.slice("/usr/bin/".length)}`;
    return SYSTEM_PROGRAMS.some((dir) => mount.source.startsWith(`${dir}/`)) ? [] : [{ ...mount, dest }];
  });
}

/** Never `/etc/passwd`, nor any other file that names the host's users. */
function etcArgs(net: readonly NetRule[]): string[] {
  return [
    ...["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
    ...["--perms", "0644", "--ro-bind-data", `${HOSTS_FD}`, "/etc/hosts"],
    ...["/etc/localtime", ...netFiles(net)].flatMap((path) => ["--ro-bind-try", path, path]),
  ];
}

function kernelArgs(flags: ReadonlySet<string>): string[] {
  const tmpfs = (path: string, mebibytes: number): string[] => {
    const size = flags.has("--size") ? ["--size", `${mebibytes * MIB}`] : [];
    return [...size, "--perms", "1777", "--tmpfs", path];
  };
  return [
    // With a root host the plugin could rewrite kernel settings, and change the mode of what the kernel shows here.
    ...["--proc", "/proc", "--remount-ro", "/proc"],
    ...["--dev", "/dev"],
    ...tmpfs("/dev/shm", 16),
    ...["--remount-ro", "/dev"],
    ...tmpfs("/tmp", 64),
  ];
}

const dirArgs = (path: string): string[] => ["--perms", "0755", "--dir", path];

const executableArgs = ({ source, dest, link }: ExecutableMount): string[] => [
  link ? "--symlink" : "--ro-bind",
  source,
  dest,
];

// Never the -try forms: a path that was granted and is gone is an error.
const grantArgs = (
  { path, access }: GrantedPath,
): string[] => [access === "write" ? "--bind" : "--ro-bind", path, path];

/** Values of variables that differ between cages. */
export interface CageEnvOptions extends Pick<CageRequest, "logLevel"> {
  /** The folders as the cage shows them; those behind `config:/` and `project:/` for a plugin with a grant there. */
  readonly places: CagePlaces;
  /** Variables that the manifest may override: how programs find the network. */
  readonly proxy?: Readonly<Record<string, string>>;
}

/** Returns every variable a plugin sees: the manifest's on top of ours, its identity on top of all (K-047). */
export function cageEnv(manifest: Manifest, options: CageEnvOptions): Record<string, string> {
  const { places, logLevel, proxy = {} } = options;
  const { installDir } = places;
  for (const name of Object.keys(manifest.env)) {
    // The loader would obey these in each program the cage starts for itself.
    if (!name.startsWith("LD_") && /^[^=\0]+$/.test(name)) continue;
    throw new HostError("manifest.invalid", `Cannot set the variable ${JSON.stringify(name)} in a cage`, {
      data: { plugin: manifest.name, variable: name },
      hint: "Remove it from env in kaged-plugin.yaml",
    });
  }
  return {
    KAGED_LOG_LEVEL: logLevel,
    HOME: hasPrivateHome(manifest) ? PRIVATE_HOME : installDir,
    PATH: "/usr/bin:/usr/local/bin",
    LANG: "C.UTF-8",
    TMPDIR: "/tmp",
    DENO_DIR: "/tmp/.deno",
    DENO_NO_PROMPT: "1",
    DENO_NO_UPDATE_CHECK: "1",
    ...proxy,
    ...manifest.env,
    ...folderEnv(manifest, places),
    KAGED_PLUGIN_NAME: manifest.name,
    KAGED_PLUGIN_DIR: installDir,
    KAGED_API_VERSION: "1",
  };
}

/** Where the prefixes of granted paths lead: a plugin whose config names `config:/x` could not find it otherwise. */
function folderEnv({ capabilities }: Manifest, { home, projectDir }: CagePlaces): Record<string, string> {
  const isGranted = (prefix: string): boolean =>
    readCapabilities(capabilities).some((asked) => "path" in asked && asked.path.startsWith(prefix));
  return {
    ...(isGranted("config:/") ? { KAGED_CONFIG_DIR: configFiles(home) } : {}),
    ...(projectDir !== null && isGranted("project:/") ? { KAGED_PROJECT_DIR: projectDir } : {}),
  };
}

/** Arguments travel separated by NUL: one inside would end an argument and begin another. */
function refuseNul(args: readonly string[], plugin: string): void {
  if (!args.some((arg) => arg.includes("\0"))) return;
  throw new HostError("manifest.invalid", `Cannot cage "${plugin}": its command or env holds a NUL character`, {
    data: { plugin },
    hint: "Remove it from kaged-plugin.yaml",
  });
}
