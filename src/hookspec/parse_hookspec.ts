/**
 * Texts of a hookspec to the hookspec: everything that is wrong in any of them is told at once.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { isMap } from "../core/values/plain_data.ts";
import { shown } from "../core/values/shown_value.ts";
import { parseKind } from "./parse_kind.ts";
import { SchemaReader } from "./schema_reader.ts";
import { FieldReader, isText, openDocument, type SpecDocument } from "./spec_document.ts";
import { DISPATCH_CLASSES, type Hookspec, type KindSpec, TARGET_LANGUAGES, type TargetLanguage } from "./types.ts";

/** Where the closed list of dispatch classes stands. */
const CLASSES_FILE = "_meta/dispatch_classes.yaml";
/** Where it is said what is written where. */
const TARGETS_FILE = "_meta/targets.yaml";
const KIND_FILE = /^kinds\/([^/]+)\/[^/]+\.yaml$/;
const MAX_ISSUES = 100;

/**
 * Reads a hookspec from its texts, by their paths from the hookspec's folder; `root` names that folder in issues.
 *
 * @throws {HostError} `hookspec.invalid`, with every issue in `data.issues`.
 */
export async function parseHookspec(
  texts: ReadonlyMap<string, string>,
  { root = "hookspec" }: { readonly root?: string } = {},
): Promise<Hookspec> {
  const documents = new Map<string, SpecDocument>();
  for (const [path, text] of texts) {
    documents.set(path, await openDocument(path, text, root));
  }
  const classes = documents.get(CLASSES_FILE);
  if (classes) checkClasses(classes);
  else {
    const missing = await openDocument(CLASSES_FILE, "", root);
    missing.report.error("hookspec.dispatch_classes_changed", [], {
      message: "The list of dispatch classes is missing",
    });
    documents.set(CLASSES_FILE, missing);
  }
  const targets = targetsIn(documents.get(TARGETS_FILE));
  const kinds: KindSpec[] = [];
  for (const document of documents.values()) {
    const folder = KIND_FILE.exec(document.path)?.[1];
    if (folder === undefined || !document.report.isClean) continue;
    const kind = parseKind(document, folder, new SchemaReader(documents, folder));
    if (kind) kinds.push(kind);
  }
  throwIssues(documents);
  return { kinds: kinds.sort((a, b) => compare(a.kind, b.kind) || a.major - b.major), targets };
}

/** The file must hold the five classes, no other and no fewer. */
function checkClasses({ data, report }: SpecDocument): void {
  if (!report.isClean) return;
  const fields = new FieldReader(data, [], report, ["dispatch_classes"]);
  const list = fields.required("dispatch_classes", "a list", Array.isArray) ?? [];
  const names = list.map((item, index) => {
    const entry = new FieldReader(item, ["dispatch_classes", index], report, ["name", "description"]);
    entry.required("description", "a text", isText);
    return entry.required("name", "a text", isText);
  });
  if (names.join() === DISPATCH_CLASSES.join() || !report.isClean) return;
  const message = `The dispatch classes are ${names.join(", ")}, and not ${DISPATCH_CLASSES.join(", ")}`;
  fields.error("hookspec.dispatch_classes_changed", "dispatch_classes", message);
}

/** Returns the folder of each language; without a file, every language below `generated`. */
function targetsIn(document: SpecDocument | undefined): Hookspec["targets"] {
  if (!document) return Object.fromEntries(TARGET_LANGUAGES.map((language) => [language, `generated/${language}`]));
  const { data, report } = document;
  const targets: Partial<Record<TargetLanguage, string>> = {};
  if (!report.isClean) return targets;
  const map = new FieldReader(data, [], report, ["targets"]).required("targets", "a map", isMap);
  for (const [language, folder] of Object.entries(map ?? {})) {
    const path = ["targets", language];
    if (!TARGET_LANGUAGES.includes(language as TargetLanguage)) {
      const message = `${shown(language)} is none of ${TARGET_LANGUAGES.join(", ")}`;
      report.error("hookspec.unknown_target", path, { message, part: "key" });
    } else if (!isText(folder)) {
      report.error("hookspec.wrong_type", path, { message: `Expected a folder, got ${shown(folder)}` });
    } else if (!isWithin(folder)) {
      report.error("hookspec.target_outside", path, { message: `Folder ${shown(folder)} is outside` });
    } else targets[language as TargetLanguage] = folder;
  }
  return targets;
}

/** Whether a folder, from the hookspec's own, stays within the one that holds it. */
function isWithin(folder: string): boolean {
  let depth = 1;
  for (const step of folder.split("/")) {
    if (step === "..") depth--;
    else if (step !== "." && step !== "") depth++;
    if (depth < 0) return false;
  }
  return !folder.startsWith("/") && !folder.includes("\0");
}

function throwIssues(documents: ReadonlyMap<string, SpecDocument>): void {
  const all = [...documents.values()].sort((a, b) => compare(a.path, b.path)).flatMap(({ report }) => report.errors);
  if (all.length === 0) return;
  const { file, line, column, message, hint } = all[0]!;
  const count = all.length === 1 ? "1 issue" : `${all.length} issues`;
  throw new HostError("hookspec.invalid", `Hookspec has ${count}, first at ${file}:${line}:${column}: ${message}`, {
    data: { issues: all.slice(0, MAX_ISSUES), total: all.length },
    ...(hint !== undefined && { hint }),
  });
}

/** By code units: the same order on every machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
