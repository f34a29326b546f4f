/**
 * Collects what is wrong with a file a person wrote, and says it.
 *
 * @module
 */
import { ERRORS, HostError, type HostErrorCode, isErrorCode } from "../errors/host_error.ts";

/** One mistake in a document that a person wrote, with its place. */
export interface DocumentIssue {
  /** The rule that was broken, such as `manifest.unknown_key`. */
  readonly code: HostErrorCode;
  /** What is wrong, for a person. */
  readonly message: string;
  /** The file it is in. */
  readonly file: string;
  /** Line, from 1. */
  readonly line: number;
  /** Column, from 1. */
  readonly column: number;
  /** Where in the document: `tools[0].name`. Empty for the whole of it. */
  readonly path: string;
  /** The next step. */
  readonly hint?: string;
}

/** Keys and indexes that lead from the root of a document to a value. */
export type DocumentPath = readonly (string | number)[];

/** A place in a file, both from 1. */
export interface Place {
  /** Line. */
  readonly line: number;
  /** Column, in UTF-16 units. */
  readonly column: number;
}

/** What a report needs to know of the document it is about. */
export interface PlaceFinder {
  /** Where the value at `path` stands, or its key; for a path that is not there, the nearest place above it. */
  placeOf(path: DocumentPath, part: "key" | "value"): Place;
}

/** How one issue differs from its row in the error table. */
export interface IssueText {
  /** What is wrong, instead of the row's cause. */
  readonly message?: string;
  /** The next step, instead of the row's fix. */
  readonly hint?: string;
  /** Whether the key or the value is at fault. Default: the value. */
  readonly part?: "key" | "value";
}

/** Issues an error lists at most: a hostile file must not make a huge report. */
const MAX_ISSUES = 100;

/** What kind of file a report is about. */
export interface DocumentKind {
  /** Room of its error codes: `manifest` for `manifest.invalid`, `manifest.yaml_syntax` and the rest. */
  readonly room: string;
  /** What its error calls it. */
  readonly title: string;
}

/** Gathers issues and warnings about one file. */
export class DocumentReport {
  readonly #file: string;
  readonly #kind: DocumentKind;
  readonly #errors = new Map<string, DocumentIssue>();
  readonly #warnings = new Map<string, DocumentIssue>();
  readonly #unreadable = new Set<string>();
  #places: PlaceFinder = { placeOf: () => ({ line: 1, column: 1 }) };

  /** Starts an empty report about `file`. */
  constructor(file: string, kind: DocumentKind) {
    this.#file = file;
    this.#kind = kind;
  }

  /** Returns the code of this kind of file for a reason every kind has, such as `yaml_syntax`. */
  code(reason: string): HostErrorCode {
    const code = `${this.#kind.room}.${reason}`;
    if (!isErrorCode(code)) throw new TypeError(`No row "${code}" in the error table`);
    return code;
  }

  /** Takes places from `finder` from now on. */
  locateWith(finder: PlaceFinder): void {
    this.#places = finder;
  }

  /** Where a value stands, or its key. */
  placeOf(path: DocumentPath, part: "key" | "value"): Place {
    return this.#places.placeOf(path, part);
  }

  /** Whether nothing is wrong so far. */
  get isClean(): boolean {
    return this.#errors.size === 0;
  }

  /** Errors so far, in the order of the file. */
  get errors(): DocumentIssue[] {
    return inFileOrder(this.#errors);
  }

  /** Warnings so far, in the order of the file. */
  get warnings(): DocumentIssue[] {
    return inFileOrder(this.#warnings);
  }

  /** Adds an error. One place breaks one rule once, and what is no good YAML is not judged further. */
  error(code: HostErrorCode, path: DocumentPath, text: IssueText = {}): void {
    const where = formatPath(path);
    if (code.startsWith(`${this.#kind.room}.yaml_`)) this.#unreadable.add(where);
    else if (this.#unreadable.has(where)) return;
    this.#add(this.#errors, code, path, this.#places.placeOf(path, text.part ?? "value"), text);
  }

  /** Adds an error at a place of its own. */
  errorAt(code: HostErrorCode, place: Place, text: IssueText = {}): void {
    this.#add(this.#errors, code, [], place, text);
  }

  /** Adds a warning. */
  warn(code: HostErrorCode, path: DocumentPath, text: IssueText = {}): void {
    this.#add(this.#warnings, code, path, this.#places.placeOf(path, text.part ?? "value"), text);
  }

  /** Throws `<room>.invalid` with every error, unless there is none. */
  throwErrors(): void {
    if (this.isClean) return;
    const all = inFileOrder(this.#errors);
    const issues = all.slice(0, MAX_ISSUES);
    const { file, line, column, message, hint } = all[0]!;
    const count = all.length === 1 ? "1 issue" : `${all.length} issues`;
    const first = `${file}:${line}:${column}: ${message}`;
    throw new HostError(this.code("invalid"), `${this.#kind.title} has ${count}, first at ${first}`, {
      data: { issues, total: all.length },
      ...(hint && { hint }),
    });
  }

  #add(list: Map<string, DocumentIssue>, code: HostErrorCode, path: DocumentPath, place: Place, text: IssueText): void {
    const row = ERRORS[code];
    const where = formatPath(path);
    const key = `${code} ${where} ${place.line}:${place.column}`;
    if (list.has(key)) return;
    const message = text.message ?? row.cause;
    list.set(key, { code, message, file: this.#file, ...place, path: where, hint: text.hint ?? row.fix });
  }
}

/** Returns a path as people write it: `tools[0].name`. */
export function formatPath(path: DocumentPath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    if (!/^[A-Za-z_$][\w$-]*$/.test(step)) return `${text}[${JSON.stringify(step)}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}

/**
 * Returns issues as text for an operator: place, code, path and message on one line each, the hint below it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const issue = { code: "manifest.unknown_key", message: 'Unknown key "tool"', file: "kaged-plugin.yaml", line: 7 };
 * assert.equal(
 *   describeIssues([{ ...issue, column: 1, path: "tool", hint: 'Did you mean "tools"?' }]),
 *   'kaged-plugin.yaml:7:1  manifest.unknown_key  tool: Unknown key "tool"\n  hint: Did you mean "tools"?',
 * );
 * ```
 */
export function describeIssues(issues: readonly DocumentIssue[]): string {
  return issues.map(({ file, line, column, code, path, message, hint }) => {
    const subject = path === "" ? message : `${path}: ${message}`;
    const first = `${file}:${line}:${column}  ${code}  ${subject}`;
    return hint === undefined ? first : `${first}\n  hint: ${hint}`;
  }).join("\n");
}

function inFileOrder(issues: Map<string, DocumentIssue>): DocumentIssue[] {
  return [...issues.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}
