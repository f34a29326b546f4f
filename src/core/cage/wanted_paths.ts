/**
 * Capabilities → absolute paths. The grammar has refused `..`, patterns and control characters by now.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { type Capability, formatCapability } from "../manifest/capability.ts";
import type { CagePlaces } from "./cage.ts";
import type { WantedPath } from "./cage_plan.ts";

/** Returns every path the capabilities name, in their order. Throws `capability.no_project`. */
export function wantedPaths(capabilities: readonly Capability[], places: CagePlaces): WantedPath[] {
  return capabilities.flatMap((asked): WantedPath[] => {
    if (asked.kind !== "fs" && asked.kind !== "exec") return [];
    const capability = formatCapability(asked);
    const access = asked.kind === "fs" ? asked.access : "read";
    const { path, makeUnder } = absolutePath(asked.path, capability, places);
    return [{ capability, path, access, makeUnder: access === "write" ? makeUnder : null }];
  });
}

/** The folder behind `config:/`. */
export function configFiles(home: string): string {
  return `${home}/files`;
}

/** Returns where a canonical path leads, and the folder that a missing target may be made under. */
export function absolutePath(
  path: string,
  capability: string,
  places: CagePlaces,
): Pick<WantedPath, "path" | "makeUnder"> {
  if (path.startsWith("/")) return { path, makeUnder: null };
  const colon = path.indexOf(":");
  const rest = path.slice(colon + 1);
  const below = (root: string): string => rest === "/" ? root : `${root === "/" ? "" : root}${rest}`;
  switch (path.slice(0, colon)) {
    case "config":
      return { path: below(configFiles(places.home)), makeUnder: places.home };
    case "plugin":
      return { path: below(places.installDir), makeUnder: null };
    case "project":
      if (places.projectDir !== null) return { path: below(places.projectDir), makeUnder: places.projectDir };
      throw new HostError(
        "capability.no_project",
        `Cannot grant "${capability}": the plugin runs outside any project`,
        {
          data: { capability },
          hint: "Start it from a project, or grant an absolute path",
        },
      );
    default:
      throw new HostError("capability.invalid", `Cannot grant "${capability}": its path is not absolute`);
  }
}
