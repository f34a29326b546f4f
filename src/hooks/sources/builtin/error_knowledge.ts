/**
 * Built-in: failures by their signature, and the fixes that helped. Arguments and outputs of tools are never kept.
 *
 * @module
 */
import { HostError } from "../../../core/errors/host_error.ts";
import { canonicalText } from "../../../core/values/canonical_text.ts";
import { permits } from "../../../core/values/permits.ts";
import type { HookEvent, HookRegistration, HookResponse } from "../../engine/types.ts";
import { builtin, type BuiltinOptions } from "./builtin_options.ts";
import { errorSignature } from "./error_signature.ts";
import { shareFact } from "./facts.ts";
import type { Notes } from "./notes.ts";
import { redactText } from "./redact.ts";
import { textKey } from "./text_key.ts";

/** A failure that has happened before. */
export interface KnownError {
  /** Name of the tool that failed. */
  readonly tool: string;
  /** The error's message as {@link errorSignature} returns it. */
  readonly signature: string;
  /** Keys of the commands it happened with, the latest last. */
  readonly commands: readonly string[];
  /** How often it has happened. */
  readonly count: number;
  /** When it happened last, ISO 8601. */
  readonly lastSeen: string;
  /** The fix that {@link ErrorKnowledge.learn} was given, or null. */
  readonly fix: string | null;
}

/** A fix for an error of a tool. */
export interface LearnedFix {
  /** Name of the tool that fails. */
  readonly tool: string;
  /** The error's message, as it occurs. */
  readonly error: string;
  /** The fix, in words for the model. */
  readonly fix: string;
  /**
   * The arguments it fails with, as the loop passes them to the tool: the fix is injected before such a call from now
   * on, also if nobody has seen it fail yet. A key of them is kept, never the arguments.
   */
  readonly command?: unknown;
}

/** Where failures are kept, and how many. */
export interface ErrorKnowledgeOptions extends BuiltinOptions {
  /** `fileNotes()` outlives the program, `memoryNotes()` does not. */
  readonly notes: Notes;
  /** Failures that are kept; the one not seen for longest is forgotten. Default 500. */
  readonly maxErrors?: number;
}

/** The failures that are known, and the handlers that use them. */
export interface ErrorKnowledge {
  /** The handlers: `PreToolUse`, `PostToolUse` and `OnError`, priority 50. */
  readonly registrations: HookRegistration[];
  /** Keeps a fix for an error of a tool. From then on it is injected when that error is likely, and when it occurs. */
  learn(fix: LearnedFix): Promise<void>;
  /** Every known failure, the latest last. */
  known(): Promise<readonly KnownError[]>;
}

const NOTE = "error-knowledge";
const MAX_COMMANDS = 20;
const MAX_FIX_CHARS = 1_000;

/** Returns the known failures, and the handlers that use them and add to them. */
export function errorKnowledge({ notes, maxErrors = 500, ...options }: ErrorKnowledgeOptions): ErrorKnowledge {
  let errors: Promise<Map<string, KnownError>> | null = null;
  const inTurn = permits(1);

  function load(): Promise<Map<string, KnownError>> {
    errors ??= notes.read(NOTE).then(parse).catch((error) => {
      errors = null; // Tried again next time: nothing is written over what could not be read.
      throw error;
    });
    return errors;
  }

  /** Changes one entry and writes all of them; one write at a time. */
  async function change(
    tool: string,
    signature: string,
    next: (old: KnownError | null) => KnownError,
  ): Promise<KnownError> {
    const known = await load();
    const key = keyOf(tool, signature);
    const entry = next(known.get(key) ?? null);
    known.delete(key);
    known.set(key, entry);
    if (known.size > maxErrors) known.delete(known.keys().next().value!);
    const text = JSON.stringify({ version: 1, errors: [...known.values()] });
    await inTurn(() => notes.write(NOTE, text));
    return entry;
  }

  async function before(event: HookEvent): Promise<HookResponse | null> {
    const command = commandKey(event);
    return hint(
      [...(await load()).values()].filter(({ tool, commands }) =>
        tool === event.tool?.name && commands.includes(command)
      ),
    );
  }

  async function after(event: HookEvent, firing: object): Promise<HookResponse | null> {
    const message = event.error?.message;
    if (message === undefined || event.tool === undefined) return null;
    const { name: tool } = event.tool;
    const command = commandKey(event);
    const signature = errorSignature(message);
    const known = await change(tool, signature, (old) => ({
      tool,
      signature,
      commands: withCommand(old, command),
      count: (old?.count ?? 0) + 1,
      lastSeen: event.timestamp,
      fix: old?.fix ?? null,
    }));
    shareFact(firing, "recurrence", known.count);
    return hint([known]);
  }

  return {
    registrations: builtin("error-knowledge", { priority: 50 }, options, {
      PreToolUse: before,
      PostToolUse: (event, { firing }) => after(event, firing),
      async OnError({ tool, error }, { firing }) {
        const entry = (await load()).get(keyOf(tool?.name ?? "", errorSignature(error?.message ?? "")));
        // This time is counted at PostToolUse, which comes next.
        if (entry) shareFact(firing, "recurrence", entry.count + 1);
        return null;
      },
    }),
    async learn({ tool, error, fix, command }) {
      const text = redactText(fix).text.slice(0, MAX_FIX_CHARS);
      const signature = errorSignature(error);
      await change(tool, signature, (old) => {
        const commands = command === undefined ? old?.commands ?? [] : withCommand(old, commandKey({ input: command }));
        return { ...(old ?? { tool, signature, count: 0, lastSeen: "" }), commands, fix: text };
      });
    },
    known: async () => [...(await load()).values()],
  };
}

/** Commands that differ only in times, ids, paths and numbers are one command. */
function commandKey({ input }: Pick<HookEvent, "input">): string {
  return textKey(errorSignature(typeof input === "string" ? input : canonicalText(input)));
}

function withCommand(old: KnownError | null, command: string): string[] {
  return [...(old?.commands ?? []).filter((one) => one !== command), command].slice(-MAX_COMMANDS);
}

function keyOf(tool: string, signature: string): string {
  return `${tool}\n${signature}`;
}

function hint(errors: readonly KnownError[]): HookResponse | null {
  const fixes = errors.filter(({ fix }) => fix !== null);
  const additionalContext = fixes.map(({ signature, fix }) => `Known fix for "${signature}": ${fix}`);
  if (additionalContext.length === 0) return null;
  return { action: "injectContext", additionalContext, metadata: { hookId: "error-knowledge" } };
}

function parse(text: string | null): Map<string, KnownError> {
  if (text === null) return new Map();
  try {
    const { version, errors } = JSON.parse(text) as { version: unknown; errors: KnownError[] };
    if (version !== 1) throw new TypeError(`Its version is ${version}, and not 1`);
    return new Map(errors.map((error) => [keyOf(error.tool, error.signature), error]));
  } catch (cause) {
    throw new HostError("hook.notes_invalid", "The error knowledge cannot be read", {
      hint: "Move the file away: it is made anew, and holds signatures and fixes only",
      cause,
    });
  }
}
