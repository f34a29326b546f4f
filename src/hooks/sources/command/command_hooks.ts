/**
 * Commands of hook files → registrations of the engine. Only a hook that the operator trusts becomes one.
 *
 * @module
 */
import { asHostError, type HostError } from "../../../core/errors/host_error.ts";
import type { CoveredFile } from "../../files/hook_evidence.ts";
import { hookFolder } from "../../files/hook_evidence.ts";
import type { LoadedHook } from "../../files/load_hook_files.ts";
import { turnEndOf } from "../../files/event_names.ts";
import { eventFilter } from "../../files/matcher.ts";
import type { HookEvent, HookRegistration, HookResponse } from "../../engine/types.ts";
import { hookInput } from "./hook_input.ts";
import { hookAnswer } from "./hook_output.ts";
import type { CommandEnd, RunCommand } from "./types.ts";

/** A hook that may run, with the check that comes before each run. */
export interface TrustedHook {
  /** The hook as its file describes it. */
  readonly hook: LoadedHook;
  /** Reads the trusted files anew. Rejects with `hook.changed` when one of them is another now. */
  readonly verify: () => Promise<readonly CoveredFile[]>;
}

/** The runner of the commands and its listeners. */
export interface RegistrationOptions {
  /** The repository's folder, links resolved. */
  readonly dir: string;
  /** Runs a command, in a cage. */
  readonly runCommand: RunCommand;
  /** Called when a command has ended, before its answer is read. */
  readonly onEnd?: (hook: LoadedHook, end: CommandEnd) => void;
  /** Called when a background hook broke; the failure of any other rejects its handler. */
  readonly onBroken?: (hook: LoadedHook, error: HostError) => void;
}

/** Returns the registrations of hooks, in their order. */
export async function hookFileRegistrations(
  hooks: readonly TrustedHook[],
  options: RegistrationOptions,
): Promise<HookRegistration[]> {
  const wants = await eventFilter(hooks.map(({ hook }) => hook));
  return hooks.map((trusted): HookRegistration => {
    const { hook } = trusted;
    const { id, file, line, timeoutMs, priority, onFailure, advisory } = hook;
    return {
      hook: hook.hook,
      ...turnEndOf(hook),
      handler: (event, { signal }) => handle(trusted, event, { ...options, signal }),
      timeoutMs,
      ...(priority !== undefined && { priority }),
      ...(onFailure !== undefined && { onFailure }),
      advisory,
      matches: (event) => wants(hook, event),
      source: { kind: "file", id, file, line },
    };
  });
}

async function handle(
  { hook, verify }: TrustedHook,
  event: HookEvent,
  { dir, runCommand, onEnd, onBroken, signal }: RegistrationOptions & { readonly signal: AbortSignal },
): Promise<HookResponse | null> {
  const sealed = await verify();
  const input = hookInput(hook, event, hookFolder(hook, dir));
  if (hook.background) {
    // Nobody waits for it: it ends by itself or at its timeout, and closing the runner waits for that.
    void runCommand({ hook, input, sealed, signal: new AbortController().signal }).then((end) => {
      onEnd?.(hook, end);
      hookAnswer(hook, end); // Its decision counts for nothing, but it may have failed.
    }).catch((error) => onBroken?.(hook, asHostError(error)));
    return null;
  }
  const end = await runCommand({ hook, input, sealed, signal });
  onEnd?.(hook, end);
  return hookAnswer(hook, end);
}
