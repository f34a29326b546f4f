/**
 * Commands of hook files → registrations of the engine. Only a hook that the operator trusts becomes one.
 *
 * @module
 */
import { asHostError, HostError } from "../../../core/errors/host_error.ts";
import type { CoveredFile } from "../../files/hook_evidence.ts";
import type { LoadedHook } from "../../files/load_hook_files.ts";
import { turnEndIn } from "../../files/dialects/all.ts";
import { eventFilter } from "../../files/matcher.ts";
import type { HookEvent, HookRegistration, HookResponse } from "../../engine/types.ts";
import type { ActionRun } from "../action/run_action.ts";
import { hookInput, hookVariables } from "./hook_input.ts";
import { hookAnswer, lateAnswer } from "./hook_output.ts";
import { type LateAnswers, lateAnswers } from "./late_answers.ts";
import { type FindRunPlaces, runPlaces } from "./run_places.ts";
import { type CommandEnd, type RunCommand, START_MS } from "./types.ts";

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
  /** Home of the operator, for paths in `if`. */
  readonly userHome?: string | null;
  /** Called when a command has ended, before its answer is read. */
  readonly onEnd?: (hook: LoadedHook, end: CommandEnd) => void;
  /** Called when a background hook broke; the failure of any other rejects its handler. */
  readonly onBroken?: (hook: LoadedHook, error: HostError) => void;
}

/** Longest time that the engine gives a handler. */
const MAX_TIMEOUT_MS = 600_000;

interface RunningOptions extends RegistrationOptions, RunMeans {
  readonly signal: AbortSignal;
  readonly firing: object;
  readonly late: LateAnswers;
}

/** Returns the registrations of hooks, in their order. There is no transcript, and no file for variables. */
export async function hookFileRegistrations(
  hooks: readonly TrustedHook[],
  options: RegistrationOptions,
): Promise<HookRegistration[]> {
  return await placedRegistrations(hooks, options, { places: runPlaces({ dir: options.dir }) });
}

/** Parts of runs that only the host itself has. */
export interface RunMeans {
  /** Places of runs beside the project. */
  readonly places: FindRunPlaces;
  /** Runs hooks that are no commands; absent: they fail. */
  readonly runAction?: (run: ActionRun) => Promise<HookResponse | null>;
}

/** Like {@link hookFileRegistrations}, with places of runs beside the project. */
export async function placedRegistrations(
  hooks: readonly TrustedHook[],
  options: RegistrationOptions,
  means: RunMeans,
): Promise<HookRegistration[]> {
  const { dir, userHome: home = null } = options;
  const wants = await eventFilter(hooks.map(({ hook }) => hook), { dir, home });
  const late = lateAnswers();
  const registrations = hooks.map((trusted): HookRegistration => {
    const { hook } = trusted;
    const { id, file, line, timeoutMs, priority, onFailure, advisory } = hook;
    return {
      hook: hook.hook,
      ...turnEndIn(hook),
      handler: (event, { signal, firing }) => handle(trusted, event, { ...options, ...means, signal, firing, late }),
      timeoutMs: Math.min(timeoutMs + (hook.action ? 0 : START_MS), MAX_TIMEOUT_MS),
      ...(priority !== undefined && { priority }),
      ...(onFailure !== undefined && { onFailure }),
      advisory,
      matches: (event) => wants(hook, event),
      source: { kind: "file", id, file, line },
    };
  });
  return [...registrations, ...late.registrations(hooks.map(({ hook }) => hook))];
}

async function handle(
  { hook, verify }: TrustedHook,
  event: HookEvent,
  { runCommand, runAction, onEnd, onBroken, signal, places, firing, late }: RunningOptions,
): Promise<HookResponse | null> {
  const sealed = await verify();
  const { facts, ...own } = await places(hook, event, firing);
  const input = hookInput(hook, event, facts);
  if (hook.action) {
    if (runAction) return await runAction({ hook, event, input, signal });
    throw new HostError("hook.command_failed", `${hook.id} is no command, and only commands run here`);
  }
  const run = { hook, input, sealed, variables: hookVariables(hook, event, facts), ...own };
  if (hook.background) {
    // Nobody waits for it: it ends by itself or at its timeout, and closing the runner waits for that.
    void runCommand({ ...run, signal: new AbortController().signal }).then((end) => {
      onEnd?.(hook, end);
      const answer = lateAnswer(hook, end, event);
      if (answer !== null) late.keep(event, answer);
    }).catch((error) => onBroken?.(hook, asHostError(error)));
    return null;
  }
  const end = await runCommand({ ...run, signal });
  onEnd?.(hook, end);
  return hookAnswer(hook, end, event);
}
