/**
 * The questions that a Deno host and its helper exchange about the kernel's files.
 *
 * @module
 */
import type { Files } from "../../core/ports/ports.ts";

/** An operation whose first argument may be a path of the kernel; no other operation of the host gets one. */
export type KernelOperation = Extract<
  keyof Files,
  "readText" | "write" | "makeDir" | "remove" | "removeDir" | "list" | "info" | "target" | "usedBytes" | "readLink"
>;

/** Each {@link KernelOperation}. */
export const KERNEL_OPERATIONS: readonly KernelOperation[] = [
  "readText",
  "write",
  "makeDir",
  "remove",
  "removeDir",
  "list",
  "info",
  "target",
  "usedBytes",
  "readLink",
];

/** One line to the helper, as JSON. */
export interface KernelQuestion {
  /** Repeated in the answer: answers may come in any order. */
  readonly id: number;
  readonly op: KernelOperation;
  readonly args: readonly [path: string, ...rest: unknown[]];
}

/** One line of the helper, as JSON. */
export interface KernelAnswer {
  readonly id: number;
  /** The result; null where there is none. Absent after a failure. */
  readonly ok?: unknown;
  readonly error?: { readonly code?: string; readonly message: string };
}

/** Whether a path is one of those that Deno opens to programs with every permission alone. */
export function isKernelPath(path: string): boolean {
  return /^\/(?:proc|sys)(?:\/|$)/.test(path) && !path.split("/").includes("..");
}

/** Links of a process that lead out of `/proc`: to its root and folder, and to files it has open. */
const LEADS_OUT = /^\/proc\/(?:.+\/)?(?:root|cwd|exe|fd\/[^/]+|map_files\/[^/]+)(?:\/|$)/;
const LOOKS: readonly KernelOperation[] = ["info", "target", "usedBytes", "readLink"];

/** Whether the helper answers: for paths of the kernel, and behind the links that lead elsewhere with no content. */
export function isAnswered({ op, args: [path] }: KernelQuestion): boolean {
  return KERNEL_OPERATIONS.includes(op) && isKernelPath(path) && (!LEADS_OUT.test(path) || LOOKS.includes(op));
}
