/**
 * Looks at the disk for everything {@link compileCage} needs to know. Done anew at each start, but for the system's own
 * layout: what was true at the last one may have been changed by the plugin since.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { readCapabilities } from "../manifest/capability.ts";
import type { Files, Runtime } from "../ports/ports.ts";
import { askedOnce } from "./asked_once.ts";
import type { CagePlaces, CageRequest } from "./cage.ts";
import type { GrantedPath, MachineFacts, PathFacts, RootEntry, WantedPath } from "./cage_plan.ts";
import { findBash } from "./find_bash.ts";
import { findBwrap } from "./find_bwrap.ts";
import { chooseTier } from "./limits/choose_tier.ts";
import { netMode, type NetRule } from "./net/net_parts.ts";
import { tryOwnNetwork } from "./net/own_network.ts";
import { relayRuntime } from "./net/relay_runtime.ts";
import { forbiddenFailure, forbiddenReason, grantedPaths, throwAll } from "./path_rules.ts";
import { resolveCommand } from "./resolve_command.ts";
import { requireSealing } from "./sealed_nodes.ts";
import { wantedPaths } from "./wanted_paths.ts";

const ROOT_ENTRIES = ["/bin", "/sbin", "/lib", "/lib64"];

/** Gathers the facts for one start. Rejects with a `cage.*` or `capability.*` error. */
export async function gatherFacts(request: CageRequest, runtime: Runtime): Promise<MachineFacts> {
  const { files, name: own, isCompiled } = runtime;
  const { manifest, runtimes } = request;
  const capabilities = readCapabilities(manifest.capabilities);
  const ownName = isCompiled ? [] : [own];
  const programs = [
    ...capabilities.flatMap((asked) => asked.kind === "exec" ? [asked.binary] : []),
    ...(request.systemPrograms ? [...Object.keys(runtimes).filter((name) => name !== "bwrap"), ...ownName] : []),
  ];
  if (runtime.uid === 0) await requireSealing(files);
  const places = await realPlaces(request.places, files);
  const { installDir: dir, home } = places;

  const net = capabilities.filter((asked): asked is NetRule => asked.kind === "net");
  const isGated = netMode(net) === "gated";
  const [bwrap, installDir, rootEntries, command, grants, { tier }, relay] = await Promise.all([
    findBwrap(runtime, runtimes),
    installFacts(places, files),
    rootEntriesOf(files),
    resolveCommand(manifest, { installDir: dir, home, runtimes, programs }, runtime),
    checkedGrants(capabilities, places, files),
    chooseTier(runtime),
    isGated ? relayRuntime(runtime, runtimes.js) : null,
  ]);
  let hostNetwork: string | null = null;
  if (isGated) {
    await refuseSockets([...grants, installDir], files);
    hostNetwork = (await tryOwnNetwork({ bash: await findBash(files), bwrap: bwrap.path }, runtime)).hosts;
  }
  const { arch, uid } = runtime;
  return { bwrap, installDir, rootEntries, command, grants, arch, tier, relay, isRoot: uid === 0, hostNetwork };
}

/** The places with links resolved: grants are compared with where things really are. */
async function realPlaces(places: CagePlaces, files: Files): Promise<CagePlaces> {
  const real = (path: string, owner: "plugin" | "project"): Promise<string> =>
    files.realPath(path).catch((cause) => {
      throw new HostError("cage.path_vanished", `Cannot find the ${owner}'s folder "${path}"`, { cause });
    });
  const [installDir, home, projectDir] = await Promise.all([
    real(places.installDir, "plugin"),
    files.realPath(places.home),
    places.projectDir === null ? null : real(places.projectDir, "project"),
  ]);
  return { installDir, home, projectDir };
}

async function installFacts(places: CagePlaces, files: Files): Promise<GrantedPath> {
  const path = places.installDir;
  const info = await files.info(path);
  // As a grant it would pass by being the plugin's own folder: ask as if it were elsewhere.
  const store = { ...places, installDir: `${places.home}/plugins` };
  const reason = info?.kind === "directory" ? forbiddenReason(path, "read", store) : "it is no folder";
  if (info === null || reason !== null) {
    throw new HostError("capability.path_forbidden", `Cannot cage the plugin in "${path}": ${reason}`, {
      data: { path },
      hint: "Move the plugin to a folder of its own",
    });
  }
  return { path, access: "read", dev: info.dev, ino: info.ino };
}

async function checkedGrants(
  capabilities: ReturnType<typeof readCapabilities>,
  places: CagePlaces,
  files: Files,
): Promise<GrantedPath[]> {
  const wanted = wantedPaths(capabilities, places);
  // Nothing is made on disk for a plugin that asks for what it may never have.
  throwAll(wanted.flatMap((path) => forbiddenFailure(path, places)));
  // One after the other: two grants may share a folder that is missing.
  for (const path of wanted) await makeTarget(path, files);
  const examined = await Promise.all(
    wanted.map(async (path) => ({ ...path, facts: await pathFacts(path.path, files) })),
  );
  return grantedPaths(examined, places);
}

/** Makes each missing folder between `makeUnder` and the wanted path, 0700. A link on the way is an error. */
async function makeTarget(wanted: WantedPath, files: Files): Promise<void> {
  const { capability, path, makeUnder } = wanted;
  if (makeUnder === null) return;
  let at = makeUnder;
  for (const part of path.slice(makeUnder.length).split("/").filter((part) => part !== "")) {
    at = `${at}/${part}`;
    let found = await files.info(at);
    if (found === null) {
      // Another start may make it between the two steps: what counts is what stands there afterwards.
      await files.makeDir(at, { mode: 0o700 }).catch(ignoreExisting);
      found = await files.info(at);
    }
    if (found?.kind === "symlink") {
      throw new HostError("capability.symlink_escape", `Cannot grant "${capability}": "${at}" is a link`, {
        data: { capability, path: at },
        hint: `Replace "${at}" by a folder`,
      });
    }
    if (found?.kind !== "directory") return; // A file is fine as the target itself; the path rules judge the rest.
  }
}

function ignoreExisting(error: unknown): void {
  if ((error as { code?: string }).code !== "EEXIST") throw error;
}

/**
 * Rejects with `capability.socket_inside` when a granted path holds a unix socket of the host. A gated cage is the one
 * kind that may open such sockets, and a read-only mount keeps nobody from connecting.
 */
async function refuseSockets(granted: readonly GrantedPath[], files: Files): Promise<void> {
  for (const { path } of granted) {
    const socket = await files.findSocket(path);
    if (socket === null) continue;
    throw new HostError(
      "capability.socket_inside",
      `Cannot grant "${path}" beside net rules: the plugin could talk to "${socket}"`,
      { data: { path, socket }, hint: "Move the socket, or grant a narrower path" },
    );
  }
}

async function pathFacts(path: string, files: Files): Promise<PathFacts> {
  const [info, real] = await Promise.all([files.info(path), files.realPath(path).catch(() => null)]);
  return { kind: info?.kind ?? null, real, dev: info?.dev ?? 0, ino: info?.ino ?? 0 };
}

const rootEntriesOf = askedOnce(async (files: Files): Promise<RootEntry[]> => {
  const entries = await Promise.all(ROOT_ENTRIES.map(async (path): Promise<RootEntry[]> => {
    const info = await files.info(path);
    if (info?.kind === "symlink") return [{ path, link: await files.readLink(path) }];
    return info?.kind === "directory" ? [{ path, link: null }] : [];
  }));
  return entries.flat();
});
