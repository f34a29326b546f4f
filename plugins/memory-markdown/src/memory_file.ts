/**
 * A memory, and the markdown file it is kept in: YAML front matter, then its text.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { normalized } from "../../shared/message_text.ts";
import { tagsOf } from "./settings.ts";

/** One thing remembered. */
export interface Memory {
  /** Names it and its file. */
  readonly id: string;
  /** A sentence, a longer note, or the record of a session. */
  readonly kind: "fact" | "note" | "session";
  readonly content: string;
  /** Words it is found by. */
  readonly tags: readonly string[];
  /** When it was first kept, ISO 8601. */
  readonly created: string;
  /** Where it comes from or when it applies. */
  readonly context?: string;
  /** How it came here: `retain`, `idle`, `compaction`, or a person's own. */
  readonly source?: string;
  /** The session it comes from. */
  readonly session?: string;
}

const MAX_FACT = 400;
const KINDS: ReadonlySet<string> = new Set(["fact", "note", "session"]);

/** Returns the id that a text always has: who keeps it twice keeps it once, also from two processes. */
export function idOf(content: string): string {
  const key = normalized(content);
  const plain = key.normalize("NFD").replace(/[^a-z0-9]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "");
  return `${plain || "memory"}-${createHash("sha256").update(key).digest("hex").slice(0, 12)}`;
}

/** Whether a text can be an id: nothing in it leads to another folder. */
export function isId(text: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,99}$/i.test(text);
}

/** Whether a text is short enough to be a fact. */
export function kindOf(content: string): "fact" | "note" {
  return content.length <= MAX_FACT && !content.includes("\n") ? "fact" : "note";
}

/** Writes a memory as a file. */
export function formatMemory({ kind, content, tags, created, context, source, session }: Memory): string {
  // A JSON text is a YAML text too, and cannot be mistaken for anything else.
  const field = (name: string, value: unknown): string[] =>
    value === undefined ? [] : [`${name}: ${JSON.stringify(value)}`];
  const head = [
    `kind: ${kind}`,
    `created: ${created}`,
    ...(tags.length > 0 ? field("tags", tags) : []),
    ...field("context", context),
    ...field("source", source),
    ...field("session", session),
  ];
  return `---\n${head.join("\n")}\n---\n\n${content.trim()}\n`;
}

/**
 * Reads a memory from a file. A person may have written it: front matter may be missing, and have fields nobody knows.
 * Throws, for the log, when it is no memory.
 */
export function parseMemory(id: string, text: string, modified: Date): Memory {
  const { fields, body } = splitFrontMatter(text);
  const content = body.trim();
  if (content === "") throw new Error("it holds no text");
  const { kind, tags, context, source, session } = fields;
  const one = (value: string | string[] | undefined): string | undefined =>
    Array.isArray(value) ? value.join(", ") : value;
  return {
    id,
    kind: typeof kind === "string" && KINDS.has(kind) ? kind as Memory["kind"] : kindOf(content),
    content,
    tags: tagsOf(Array.isArray(tags) ? tags : tags ? tags.split(",") : []).slice(0, 50),
    created: timeOf(fields.created) ?? modified.toISOString(),
    ...optional("context", one(context)),
    ...optional("source", one(source)),
    ...optional("session", one(session)),
  };
}

/** A time as it is written, in its full form; null when it is none. */
function timeOf(text: string | string[] | undefined): string | null {
  if (typeof text !== "string") return null;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

const optional = <K extends string>(name: K, value: string | undefined): { [N in K]?: string } =>
  (value ? { [name]: value } : {}) as { [N in K]?: string };

const MAX_HEAD_LINES = 100;

interface FrontMatter {
  readonly fields: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Reads the little YAML that front matter needs: `name: text`, `name: [a, b]`, and lists of `- text` below a name. */
function splitFrontMatter(text: string): FrontMatter {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---") return { fields: {}, body: lines.join("\n") };
  const end = lines.slice(1, MAX_HEAD_LINES + 1).findIndex((line) => line.trimEnd() === "---") + 1;
  if (end === 0) throw new Error("its front matter has no end");
  const fields: Record<string, string | string[] | undefined> = Object.create(null);
  let list: string[] | null = null;
  for (const line of lines.slice(1, end)) {
    const item = /^\s*-\s+(.*)$/s.exec(line);
    if (item && list) {
      list.push(scalar(item[1]!));
      continue;
    }
    const [, name, value = ""] = /^([A-Za-z_][\w-]{0,63}):(?:\s+(.*))?$/s.exec(line) ?? [];
    list = null;
    if (name === undefined) continue; // A comment, or YAML that no memory needs.
    if (value.trim() === "") fields[name] = list = [];
    else fields[name] = value.trim().startsWith("[") ? flowList(value.trim()) : scalar(value);
  }
  return { fields, body: lines.slice(end + 1).join("\n") };
}

function flowList(text: string): string[] {
  const whole = quoted(text);
  if (Array.isArray(whole)) return whole.map((each) => typeof each === "string" ? each : JSON.stringify(each));
  return text.replace(/^\[|\]$/g, "").split(",").map(scalar).filter((each) => each !== "");
}

function scalar(text: string): string {
  const plain = text.trim();
  const value = plain.startsWith('"') ? quoted(plain) : undefined;
  if (typeof value === "string") return value;
  return /^'.*'$/s.test(plain) ? plain.slice(1, -1).replaceAll("''", "'") : plain;
}

function quoted(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
