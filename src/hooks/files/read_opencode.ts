/**
 * Command hooks around opencode, in the two forms that people's files have: `experimental.hook` of `opencode.json`, and
 * `tool` and `session` of `command-hooks.jsonc`.
 *
 * @module
 */
import { formatPath } from "../../core/documents/document_report.ts";
import { Fields, LIST, MAP, SOME_TEXT } from "../../core/documents/fields.ts";
import type { DocumentPath } from "../../core/documents/places.ts";
import { defined, isMap } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import { DIALECTS } from "./dialects/all.ts";
import type { ReadHooks } from "./read_items.ts";
import { shellWord } from "./shell_words.ts";
import type { FileHook, UnusedHook } from "./types.ts";

const { events, leftOut, timeoutMs } = DIALECTS.opencode;

/** Keys of a hook beside its commands that this host does nothing for. */
const UNDONE: Readonly<Record<string, string>> = {
  inject: "this host posts no messages into a session",
  toast: "this host has no screen",
};

/** A hook as far as its form decides it. */
interface Found {
  readonly nativeName: string;
  readonly path: DocumentPath;
  readonly script: string;
  readonly matcher?: string;
  readonly agent?: string | null;
  readonly env?: Readonly<Record<string, string>>;
  readonly background?: boolean;
}

/** Reads the hooks of either form. */
export function readOpencode(root: Fields, name: string): ReadHooks {
  const unused: UnusedHook[] = [];
  const idOf = (path: DocumentPath): string => `${name}:${formatPath(path)}`;
  const leave = (path: DocumentPath, reason: string): void => {
    unused.push({ id: idOf(path), line: root.report.placeOf(path, "value").line, reason });
  };
  const old = root.fields("experimental").fields("hook");
  const found = [...readOld(old), ...readNew(root, leave)];
  const hooks = found.map(({ nativeName, path, script, matcher, agent = null, env = {}, background = false }) => ({
    id: idOf(path),
    hook: events[nativeName]!.hook,
    nativeName,
    dialect: "opencode" as const,
    file: root.report.file,
    line: root.report.placeOf(path, "value").line,
    path: formatPath(path),
    commands: { bash: script },
    env,
    timeoutMs,
    background,
    agent,
    advisory: false,
    ...defined({ matcher }),
  } satisfies FileHook));
  return { hooks, unused };
}

function readOld(hook: Fields): Found[] {
  const { report } = hook;
  const edited = hook.fields("file_edited");
  const lists = [
    ...Object.keys(edited.data).map((extension) => ({
      nativeName: "file_edited",
      extension,
      at: edited.at(extension),
    })),
    ...(hook.has("session_completed")
      ? [{ nativeName: "session_completed", extension: null, at: hook.at("session_completed") }]
      : []),
  ];
  return lists.flatMap(({ nativeName, extension, at }) => {
    const list = extension === null ? hook.get("session_completed", LIST) : edited.get(extension, LIST);
    return (list ?? []).flatMap((value, index): Found[] => {
      const path = [...at, index];
      const entry = new Fields(value, path, report);
      const words = entry.require("command", LIST, { hint: 'Write "command": ["program", "argument"]' });
      if (words === undefined) return [];
      if (!words.every((word) => typeof word === "string") || words.length === 0) {
        entry.error("wrong_type", "command", { message: "A command is not a list of texts" });
        return [];
      }
      const env = Object.fromEntries(
        Object.entries(entry.fields("environment").data).filter((pair): pair is [string, string] =>
          SOME_TEXT.fits(pair[1])
        ),
      );
      const matcher = extension === null ? undefined : `${extension.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
      // Nobody waits for it, as opencode did not.
      return [{ nativeName, path, script: words.map(word).join(" "), env, background: true, ...defined({ matcher }) }];
    });
  });
}

/** A word of a command, in which the first `$FILE` is the file. */
function word(text: string): string {
  const [before = "", ...rest] = text.split("$FILE");
  if (rest.length === 0) return shellWord(text);
  const part = (piece: string): string => piece === "" ? "" : shellWord(piece);
  return `${part(before)}"$FILE"${part(rest.join("$FILE"))}`;
}

function readNew(root: Fields, leave: (path: DocumentPath, reason: string) => void): Found[] {
  return (["tool", "session"] as const).flatMap((kind) => {
    const list = isMap(root.data[kind]) ? [] : root.get(kind, LIST) ?? [];
    return list.flatMap((value, index): Found[] => {
      const path = [kind, index];
      const entry = new Fields(value, path, root.report);
      const when = new Fields(entry.require("when", MAP) ?? {}, [...path, "when"], root.report);
      const nativeName = kind === "tool" ? `tool.${String(when.data["phase"])}` : String(when.data["event"]);
      const why = Object.hasOwn(leftOut, nativeName) ? leftOut[nativeName]! : null;
      if (why === null && !Object.hasOwn(events, nativeName)) {
        root.report.error("hook.unknown_event", [...path, "when"], { message: `Unknown moment ${shown(nativeName)}` });
        return [];
      }
      const undone = undoneIn(entry, when);
      const run = [entry.data["run"] ?? []].flat();
      if (why !== null || undone !== null || run.length === 0) {
        leave(path, why ?? undone ?? "It runs nothing: this host shows no toasts and posts no messages");
        return [];
      }
      for (const key of Object.keys(UNDONE).filter((name) => entry.has(name))) {
        leave([...path, key], `Its ${shown(key)} is not read, though its commands run: ${UNDONE[key]}`);
      }
      const tools = [when.data["tool"] ?? []].flat().map(String);
      const agent = when.data["callingAgent"] ?? when.data["agent"];
      return [{
        nativeName,
        path,
        // Each runs, whether the one before failed or not.
        script: run.map(String).join("\n"),
        ...(tools.length > 0 && !tools.includes("*") && { matcher: `^(?:${tools.map(escaped).join("|")})$` }),
        agent: typeof agent === "string" && agent !== "*" ? agent : null,
      }];
    });
  });
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Returns why a hook cannot be narrowed down here as it asks for, or null. */
function undoneIn(_entry: Fields, when: Fields): string | null {
  for (const key of ["toolArgs", "slashCommand"]) {
    if (when.has(key)) return `Its "${key}" is not read here, and without that it would run too often`;
  }
  return null;
}
