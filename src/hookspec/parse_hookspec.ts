/**
 * Texts of a hookspec to the hookspec: every mistake in any of them is reported at once.
 *
 * @module
 */
import { throwIssues } from "../core/documents/document_report.ts";
import { Fields, LIST, MAP, SOME_TEXT } from "../core/documents/fields.ts";
import { followPath } from "../core/values/relative_path.ts";
import { shown } from "../core/values/shown_value.ts";
import { parseKind } from "./parse_kind.ts";
import { SchemaReader } from "./schema_reader.ts";
import { HOOKSPEC_FILE, openDocument, type SpecDocument } from "./spec_document.ts";
import { DISPATCH_CLASSES, type Hookspec, type KindSpec, TARGET_LANGUAGES, type TargetLanguage } from "./types.ts";

/** Where the closed list of dispatch classes stands. */
const CLASSES_FILE = "_meta/dispatch_classes.yaml";
/** Where it is said what is written where. */
const TARGETS_FILE = "_meta/targets.yaml";
const KIND_FILE = /^kinds\/([^/]+)\/[^/]+\.yaml$/;

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
  for (const [path, text] of texts) documents.set(path, await openDocument(path, text, root));
  const classes = documents.get(CLASSES_FILE);
  if (classes) checkClasses(classes);
  else {
    const missing = await openDocument(CLASSES_FILE, "", root);
    const message = "The list of dispatch classes is missing";
    missing.report.error("hookspec.dispatch_classes_changed", [], { message });
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
  const inOrder = [...documents.values()].sort((a, b) => compare(a.path, b.path));
  throwIssues(HOOKSPEC_FILE, inOrder.flatMap(({ report }) => report.errors));
  return { kinds: kinds.sort((a, b) => compare(a.kind, b.kind) || a.major - b.major), targets };
}

/** The file must hold the five classes, no other and no fewer. */
function checkClasses({ data, report }: SpecDocument): void {
  if (!report.isClean) return;
  const root = new Fields(data, [], report);
  root.expectKeys(["dispatch_classes"]);
  const list = root.require("dispatch_classes", LIST) ?? [];
  const names = list.map((item, index) => {
    const entry = new Fields(item, [...root.at("dispatch_classes"), index], report);
    entry.expectKeys(["name", "description"]);
    entry.require("description", SOME_TEXT);
    return entry.require("name", SOME_TEXT);
  });
  if (names.join() === DISPATCH_CLASSES.join() || !report.isClean) return;
  const message = `The dispatch classes are ${names.join(", ")}, and not ${DISPATCH_CLASSES.join(", ")}`;
  root.error("dispatch_classes_changed", "dispatch_classes", { message });
}

/** Returns the folder of each language; without a file, every language below `generated`. */
function targetsIn(document: SpecDocument | undefined): Hookspec["targets"] {
  if (!document) return Object.fromEntries(TARGET_LANGUAGES.map((language) => [language, `generated/${language}`]));
  const { data, report } = document;
  const found: Partial<Record<TargetLanguage, string>> = {};
  if (!report.isClean) return found;
  const root = new Fields(data, [], report);
  root.expectKeys(["targets"]);
  root.require("targets", MAP);
  const targets = root.fields("targets");
  for (const language of Object.keys(targets.data)) {
    const folder = targets.get(language, SOME_TEXT);
    if (!TARGET_LANGUAGES.includes(language as TargetLanguage)) {
      const message = `${shown(language)} is none of ${TARGET_LANGUAGES.join(", ")}`;
      targets.error("unknown_target", language, { message, part: "key" });
    } else if (folder !== undefined && !isWithin(folder)) {
      targets.error("target_outside", language, { message: `Folder ${shown(folder)} is outside` });
    } else if (folder !== undefined) found[language as TargetLanguage] = folder;
  }
  return found;
}

/** By code units: the same order on every machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether a folder, from the hookspec's own, stays within the one that holds it. */
function isWithin(folder: string): boolean {
  return !folder.startsWith("/") && followPath(["hookspec"], folder) !== null;
}
