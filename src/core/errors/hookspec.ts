/**
 * Failures of reading and emitting hookspecs.
 *
 * @module
 */
import { type ErrorRow, jsonRows, row, yamlRows } from "./row.ts";

const bad = (cause: string, fix: string): ErrorRow => row(-32602, 400, cause, fix);

/** Rows of the family `hookspec`. */
export const HOOKSPEC_ERRORS: Readonly<Record<string, ErrorRow>> = {
  ...yamlRows("hookspec", "hookspec"),
  ...jsonRows("hookspec"),
  "hookspec.missing": bad("There is no hookspec here", "Name the folder that holds _meta and kinds"),
  "hookspec.out_taken": bad(
    "The folder holds the generated files of another hookspec",
    "Give each hookspec a folder of its own",
  ),
  "hookspec.too_many_files": bad("A hookspec has more files than it may have", "Keep it under 2000 files"),
  "hookspec.dispatch_classes_changed": bad(
    "The list of dispatch classes is not the closed one",
    "Restore the five classes: a new one is a decision of its own",
  ),
  "hookspec.kind_misplaced": bad("A kind does not stand where its name says", "Keep it in kinds/<kind>/v<N>.yaml"),
  "hookspec.invalid_name": bad("A name is not snake_case", "Use lower case letters, digits and single underscores"),
  "hookspec.reserved_name": bad("A name has a meaning of its own in a target language", "Choose another name"),
  "hookspec.name_taken": bad("Two things would get one name in a target language", "Rename one of them"),
  "hookspec.invalid_version": bad("A version is not SemVer", "Write MAJOR.MINOR.PATCH, such as 1.0.0"),
  "hookspec.version_misplaced": bad("The major version is not the one in the file's name", "Make the two agree"),
  "hookspec.unknown_dispatch": bad("There is no such dispatch class", "Use one of the five classes"),
  "hookspec.duplicate_hook": bad("A hook stands twice in one kind", "Rename or remove one of them"),
  "hookspec.duplicate_alias": bad("A name on a platform means two hooks", "Give it to one of them"),
  "hookspec.invalid_template": bad("A template has parts that mean nothing here", "Use the documented template"),
  "hookspec.invalid_value": bad("A value is not one that may stand here", "Use one of the values named"),
  "hookspec.schema_missing": bad("A schema does not exist", "Add the file, or correct the path"),
  "hookspec.schema_outside": bad(
    "A file is outside the hookspec",
    "Copy it into kinds/<kind>/schemas: nothing is fetched",
  ),
  "hookspec.reference_dangling": bad("A reference leads to nothing", "Correct it, or add what it names"),
  "hookspec.recursive_schema": bad("A schema holds itself", 'End the circle with { "type": "object" }'),
  "hookspec.unsupported_keyword": bad(
    "A keyword cannot be carried into every language",
    "Say it with the keywords named in docs/hookspec.md",
  ),
  "hookspec.invalid_schema": bad("A schema is not one that types can be made of", "Correct the keyword named"),
  "hookspec.unknown_target": bad("There is no such target language", "Use one of the languages named"),
  "hookspec.target_outside": bad("A target is outside the folder that holds the hookspec", "Name a folder within it"),
};
