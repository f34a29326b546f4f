/**
 * Capabilities in plain words, for the operator who is asked to grant them. Command, API and console show the same text.
 *
 * @module
 */
import type { CagePlaces } from "../../core/cage/cage.ts";
import { isPublic } from "../../core/cage/net/address.ts";
import { literalAddress } from "../../core/cage/net/judge_target.ts";
import { absolutePath } from "../../core/cage/wanted_paths.ts";
import { type Capability, formatCapability, readCapabilities } from "../../core/manifest/capability.ts";
import { pathDanger, programDanger } from "./danger.ts";

/** Folders that the paths of a capability lead to. */
export interface ConsentPaths extends CagePlaces {
  /** Home folder of the person who runs the host, or null when it has none. */
  readonly userHome: string | null;
}

/** A capability in plain words. */
export interface CapabilityDescription {
  /** The capability in canonical form. */
  readonly capability: string;
  /** For example `Can read everything under /opt/oh-my-pi`. */
  readonly text: string;
  /** Why to think twice, or null. */
  readonly danger: string | null;
}

/**
 * Describes one capability.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const paths = { installDir: "/p", home: "/h", projectDir: null, userHome: "/home/ada" };
 * assert.deepEqual(describeCapability("read:fs:/opt/oh-my-pi", { paths }), {
 *   capability: "read:fs:/opt/oh-my-pi",
 *   text: "Can read everything under /opt/oh-my-pi",
 *   danger: null,
 * });
 * ```
 * @throws {HostError} `capability.invalid` when it is none.
 */
export function describeCapability(
  capability: string,
  { paths }: { readonly paths: ConsentPaths },
): CapabilityDescription {
  const [asked] = readCapabilities([capability]) as [Capability];
  return { capability: formatCapability(asked), ...describe(asked, paths) };
}

function describe(asked: Capability, paths: ConsentPaths): Pick<CapabilityDescription, "text" | "danger"> {
  switch (asked.kind) {
    case "fs": {
      const verb = asked.access === "read" ? "read" : "read, change and delete";
      const { shown, path } = place(asked.path, paths);
      return { text: `Can ${verb} everything under ${shown}`, danger: pathDanger(path, asked.access, paths) };
    }
    case "exec": {
      const { shown, path } = place(asked.path, paths);
      const folder = asked.path === "plugin:/" ? "" : `, and read everything under ${shown}`;
      const danger = programDanger(asked.binary) ?? pathDanger(path, "read", paths);
      return { text: `Can run the program ${asked.binary}${folder}`, danger };
    }
    case "storage": {
      const text = asked.access === "read" ? "Can read the rows it kept" : "Can keep rows in tables of its own";
      return { text, danger: null };
    }
    case "net":
      return describeNet(asked);
  }
}

function describeNet(asked: Extract<Capability, { kind: "net" }>): Pick<CapabilityDescription, "text" | "danger"> {
  if (asked.scope !== "host") {
    if (asked.scope === "none") return { text: "Has no network", danger: null };
    return {
      text: "Can use the whole network",
      danger:
        "It reaches every machine this one can, services of this machine among them, and can send away all it reads",
    };
  }
  const { host, port } = asked;
  const text = `Can connect to ${host} ${port === "*" ? "on every port" : `on port ${port}`}`;
  return { text, danger: hostDanger(host) };
}

function hostDanger(host: string): string | null {
  const address = literalAddress(host);
  if (host === "localhost" || address?.startsWith("127.") || address === "::1") {
    return "It reaches services of this machine, which often trust whoever connects from it";
  }
  return address !== null && !isPublic(address) ? "It reaches a machine of a private network" : null;
}

/** A path as declared and, where that differs, as it is on this machine. */
function place(declared: string, paths: ConsentPaths): { shown: string; path: string | null } {
  if (declared.startsWith("project:/") && paths.projectDir === null) {
    return { shown: `${declared} (in the folder of whatever project uses it)`, path: null };
  }
  const { path } = absolutePath(declared, declared, paths);
  return { shown: path === declared ? path : `${declared} (${path})`, path };
}
