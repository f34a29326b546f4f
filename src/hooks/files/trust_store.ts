/**
 * The hook files that the operator trusts: `trust.json` in the operator's folder. Exact content only: one changed byte in
 * a covered file and the operator is asked again.
 *
 * @module
 */
import { utf8Text } from "../../core/documents/read_text.ts";
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import { withHomeLock } from "../../core/files/file_lock.ts";
import type { Files, Runtime } from "../../core/ports/ports.ts";
import { isMap } from "../../core/values/plain_data.ts";
import type { CoveredFile, HookEvidence } from "./hook_evidence.ts";
import type { HookGate } from "./types.ts";

const TRUST_FILE = "trust.json";

/** A covered file as it was when it was trusted. */
export interface TrustedFile extends Pick<CoveredFile, "path" | "sha256"> {
  /** Its text, to show what changed; absent when it was long or no text. */
  readonly text?: string;
}

/** The operator's trust in one hook file. */
export interface TrustRecord {
  /** The hash that was trusted. */
  readonly hash: string;
  /** Time of the operator's decision, ISO 8601. */
  readonly trusted_at: string;
  /** The hook file and the scripts it names. */
  readonly files: readonly TrustedFile[];
  /** Hooks that block when they fail, also when the file is gone; absent in records of earlier versions. */
  readonly gates?: readonly HookGate[];
}

/** Everything that is trusted: repository folder → hook file → record. */
export type TrustStore = Readonly<Record<string, Readonly<Record<string, TrustRecord>>>>;

/** Whether a hook file may run. `own` is the operator's own; `changed` was trusted with another content. */
export type TrustState = "own" | "trusted" | "untrusted" | "changed";

const MAX_TEXT_BYTES = 64 * 1024;

/**
 * Reads the trusted hook files; none when there is no `trust.json`.
 *
 * @throws {HostError} `hook.trust_unreadable`: a file that cannot be read gives no trust, and is not written over.
 */
export async function readTrust(home: string, { files }: { readonly files: Files }): Promise<TrustStore> {
  const file = `${home}/${TRUST_FILE}`;
  if (await files.target(file) === null) return {};
  try {
    const data: unknown = JSON.parse(await files.readText(file));
    if (isMap(data) && data["version"] === 1 && isStore(data["projects"])) return data["projects"];
    throw new Error("it does not look as this program writes it");
  } catch (error) {
    throw new HostError("hook.trust_unreadable", `Cannot read "${file}": ${messageOf(error)}`, {
      data: { file },
      hint: `Repair it, or remove it and trust again: rm ${file}`,
      cause: error,
    });
  }
}

/** Returns the record of a hook file, or null. */
export function trustRecord(store: TrustStore, dir: string, name: string): TrustRecord | null {
  const project = Object.hasOwn(store, dir) ? store[dir]! : {};
  return Object.hasOwn(project, name) ? project[name]! : null;
}

/** Compares the content that is there now with the one that was trusted. */
export function trustState(store: TrustStore, dir: string, { name, hash }: HookEvidence): TrustState {
  const record = trustRecord(store, dir, name);
  if (record === null) return "untrusted";
  return record.hash === hash ? "trusted" : "changed";
}

/** Trusts exactly this content from now on. Rejects with `install.busy` when another process keeps the folder locked. */
export async function trustHookFile(
  { home, dir, evidence }: { readonly home: string; readonly dir: string; readonly evidence: HookEvidence },
  runtime: TrustPorts,
): Promise<void> {
  const { hash, files, gates } = evidence;
  const trusted_at = new Date(runtime.clock.now()).toISOString();
  const record: TrustRecord = { hash, trusted_at, files: files.map(trustedFile), gates };
  await changeProject(home, dir, runtime, (project) => ({ ...project, [evidence.name]: record }));
}

/** Ends the trust in a hook file, and with it gates that block because it changed. Returns whether it was trusted. */
export async function untrustHookFile(
  { home, dir, name }: { readonly home: string; readonly dir: string; readonly name: string },
  runtime: TrustPorts,
): Promise<boolean> {
  let wasTrusted = false;
  await changeProject(home, dir, runtime, (project) => {
    wasTrusted = Object.hasOwn(project, name);
    return Object.fromEntries(Object.entries(project).filter(([other]) => other !== name));
  });
  return wasTrusted;
}

/** The ports that changing `trust.json` under the lock of the home needs. */
type TrustPorts = Pick<Runtime, "files" | "ids" | "clock" | "databases">;

async function changeProject(
  home: string,
  dir: string,
  runtime: TrustPorts,
  change: (project: TrustStore[string]) => TrustStore[string],
): Promise<void> {
  const { files, ids } = runtime;
  await withHomeLock(home, runtime, async () => {
    const store = await readTrust(home, runtime);
    const projects = { ...store, [dir]: change(Object.hasOwn(store, dir) ? store[dir]! : {}) };
    const fresh = `${home}/${ids.create(TRUST_FILE)}.tmp`;
    await files.write(fresh, `${JSON.stringify({ version: 1, projects }, null, 2)}\n`, 0o600);
    await files.rename(fresh, `${home}/${TRUST_FILE}`);
  });
}

function trustedFile({ path, sha256, bytes }: CoveredFile): TrustedFile {
  const text = bytes.length <= MAX_TEXT_BYTES ? utf8Text(bytes) : null;
  return { path, sha256, ...(text !== null && { text }) };
}

function isStore(value: unknown): value is TrustStore {
  return isMap(value) &&
    Object.values(value).every((project) => isMap(project) && Object.values(project).every(isRecord));
}

function isRecord(value: unknown): boolean {
  if (!isMap(value) || typeof value.hash !== "string" || !Array.isArray(value.files)) return false;
  if (value.gates !== undefined && !(Array.isArray(value.gates) && value.gates.every(isGate))) return false;
  return value.files.every((file) => isMap(file) && typeof file.path === "string" && typeof file.sha256 === "string");
}

/** A gate that could not be held must not be overlooked: then the whole list counts as unreadable. */
function isGate(value: unknown): boolean {
  return isMap(value) && [value.id, value.hook, value.nativeName].every((part) => typeof part === "string");
}
