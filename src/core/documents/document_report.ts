/**
 * Collects everything that is wrong with a file that a person wrote, with the place of each mistake.
 *
 * @module
 */
import { ERRORS, HostError, type HostErrorCode, isErrorCode } from "../errors/host_error.ts";
import { defined } from "../values/plain_data.ts";
import { type DocumentPath, FILE_START, type Place, Spot } from "./places.ts";

/** One mistake in a document that a person wrote, with its place. */
export interface DocumentIssue {
  /** The rule that was broken, such as `manifest.unknown_key`. */
  readonly code: HostErrorCode;
  /** The mistake in words, with names and values in quotes. */
  readonly message: string;
  /** Path of the file, as it was given to the reader. */
  readonly file: string;
  /** Line of the mistake; the first is 1. */
  readonly line: number;
  /** In UTF-16 units. Lines and columns count from 1. */
  readonly column: number;
  /** Path within the document, such as `tools[0].name`. Empty for the whole of it. */
  readonly path: string;
  /** The next step for the person. */
  readonly hint?: string;
}

/** How one issue differs from its row in the error table. */
export interface IssueText {
  /** Default: the row's cause. */
  readonly message?: string | undefined;
  /** The next step. Default: the row's fix. */
  readonly hint?: string | undefined;
  /** Whether the key or the value is at fault. Default: the value. */
  readonly part?: "key" | "value";
}

/** A kind of file that people write. */
export interface DocumentKind {
  /** Family of its error codes: `manifest` for `manifest.invalid`, `manifest.yaml_syntax` and the rest. */
  readonly room: string;
  /** Name of such a file in error messages. */
  readonly title: string;
  /** Larger files are refused unread. */
  readonly maxBytes: number;
  /** Lexemes a YAML file may have, and twice the values it may unfold to. Default 50,000. */
  readonly maxParts?: number;
}

/** A document that was read: its text, its data, and the report that knows the places of its values. */
export interface SourceDocument<Data = unknown> {
  readonly text: string;
  readonly data: Data;
  readonly report: DocumentReport;
}

/** Issues an error lists at most: a hostile file must not make a huge report. */
const MAX_ISSUES = 100;

/** Gathers issues and warnings about one file. */
export class DocumentReport {
  readonly file: string;
  readonly kind: DocumentKind;
  readonly #errors = new Map<string, DocumentIssue>();
  readonly #warnings = new Map<string, DocumentIssue>();
  readonly #unreadable = new Set<string>();
  #root = new Spot(FILE_START);

  /** Starts an empty report about `file`. */
  constructor(file: string, kind: DocumentKind) {
    this.file = file;
    this.kind = kind;
  }

  /** Returns the code of this kind of file for a reason that several kinds share, such as `yaml_syntax`. */
  code(reason: string): HostErrorCode {
    const code = `${this.kind.room}.${reason}`;
    if (!isErrorCode(code)) throw new TypeError(`No row "${code}" in the error table`);
    return code;
  }

  /** Takes places from a reader's tree from now on. */
  locateWith(root: Spot): void {
    this.#root = root;
  }

  /** Returns an empty report about a part of this document, whose mistakes may not be the whole document's. */
  apart(): DocumentReport {
    const part = new DocumentReport(this.file, this.kind);
    part.#root = this.#root;
    for (const where of this.#unreadable) part.#unreadable.add(where);
    return part;
  }

  /** Adds the issues of a part; its errors as errors, or as warnings where they leave the rest of the document usable. */
  take(part: DocumentReport, errorsAs: "errors" | "warnings" = "errors"): void {
    const target = errorsAs === "errors" ? this.#errors : this.#warnings;
    for (const issue of part.#errors.values()) this.#add(target, issue);
    for (const issue of part.#warnings.values()) this.#add(this.#warnings, issue);
  }

  /** Returns the place of a value, or of its key. */
  placeOf(path: DocumentPath, part: "key" | "value"): Place {
    return this.#root.placeOf(path, part);
  }

  /** Whether no error was added so far. */
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

  /** Adds an error. One place breaks one rule once, and a value that is no good YAML is not judged further. */
  error(code: HostErrorCode, path: DocumentPath, text: IssueText = {}): void {
    const where = formatPath(path);
    if (code.startsWith(`${this.kind.room}.yaml_`)) this.#unreadable.add(where);
    else if (this.#unreadable.has(where)) return;
    this.#add(this.#errors, this.issue(code, path, text));
  }

  /** Adds an error at a place of its own; default: the start of the file. */
  errorAt(code: HostErrorCode, place: Place = FILE_START, text: IssueText = {}): void {
    this.#add(this.#errors, { ...this.issue(code, [], text), ...place });
  }

  /** Adds a warning at a place of its own. */
  warnAt(code: HostErrorCode, place: Place, text: IssueText = {}): void {
    this.#add(this.#warnings, { ...this.issue(code, [], text), ...place });
  }

  /** Adds a warning; warnings never make a file invalid. */
  warn(code: HostErrorCode, path: DocumentPath, text: IssueText = {}): void {
    this.#add(this.#warnings, this.issue(code, path, text));
  }

  /** Returns an issue about the value at `path` without adding it. */
  issue(code: HostErrorCode, path: DocumentPath, text: IssueText = {}): DocumentIssue {
    const { message = ERRORS[code].cause, hint = ERRORS[code].fix, part = "value" } = text;
    return { code, message, file: this.file, ...this.placeOf(path, part), path: formatPath(path), hint };
  }

  /** Returns an error about the value at `path`, with its place in the message and in its data. */
  failure(
    code: HostErrorCode,
    path: DocumentPath,
    { data = {}, ...text }: IssueText & { readonly data?: Readonly<Record<string, unknown>> },
  ): HostError {
    const { code: _, message, hint, ...place } = this.issue(code, path, text);
    const at = `${place.file}:${place.line}:${place.column}`;
    return new HostError(code, `${at}: ${message}`, { data: { ...place, ...data }, ...defined({ hint }) });
  }

  /** Throws `<room>.invalid` with every error, unless there is none. */
  throwErrors(): void {
    throwIssues(this.kind, this.errors);
  }

  /** Whether a text is within the size of its kind; a larger one is reported as `<room>.too_large`. */
  fits(text: string): boolean {
    const { maxBytes } = this.kind;
    // A UTF-16 unit has at most three bytes: short texts need not be encoded.
    if (text.length * 3 <= maxBytes || new TextEncoder().encode(text).length <= maxBytes) return true;
    this.errorAt(this.code("too_large"));
    return false;
  }

  #add(list: Map<string, DocumentIssue>, issue: DocumentIssue): void {
    const key = `${issue.code} ${issue.path} ${issue.line}:${issue.column}`;
    if (!list.has(key)) list.set(key, issue);
  }
}

/** Throws `<room>.invalid` with the issues of one file or of several; does nothing when there are none. */
export function throwIssues(
  { room, title }: Pick<DocumentKind, "room" | "title">,
  all: readonly DocumentIssue[],
): void {
  if (all.length === 0) return;
  const { file, line, column, message, hint } = all[0]!;
  const count = all.length === 1 ? "1 issue" : `${all.length} issues`;
  const text = `${title} has ${count}, first at ${file}:${line}:${column}: ${message}`;
  throw new HostError(`${room}.invalid` as HostErrorCode, text, {
    data: { issues: all.slice(0, MAX_ISSUES), total: all.length },
    ...(hint && { hint }),
  });
}

/** Returns a path as people write it: `tools[0].name`. */
export function formatPath(path: DocumentPath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    if (!/^[A-Za-z_$][\w$-]*$/.test(step)) return `${text}[${JSON.stringify(step)}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}

const PATH_STEP = /(?:^|\.)([A-Za-z_$][\w$-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g;

/** Returns the steps of a path that {@link formatPath} wrote. */
export function parsePath(text: string): DocumentPath {
  return Array.from(text.matchAll(PATH_STEP), ([, name, index, quoted]) => {
    return name ?? (index === undefined ? JSON.parse(quoted!) as string : Number(index));
  });
}

function inFileOrder(issues: Map<string, DocumentIssue>): DocumentIssue[] {
  return [...issues.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}
