/**
 * Mistakes in a hookspec.
 *
 * @module
 */
import { type ErrorRow, jsonRows, rows, yamlRows } from "./row.ts";

export const HOOKSPEC_ERRORS: Readonly<Record<string, ErrorRow>> = {
  ...yamlRows("hookspec", "hookspec"),
  ...jsonRows("hookspec"),
  ...rows("hookspec", -32602, 400, {
    missing: ["There is no hookspec here", "Name the folder that holds _meta and kinds"],
    out_taken: [
      "A folder holds files that were written from another hookspec",
      "Give each hookspec a folder of its own",
    ],
    too_many_files: ["A hookspec has more files than it may have", "Keep it under 2000 files"],
    dispatch_classes_changed: [
      "The list of dispatch classes is not the closed one",
      "Restore the five classes: a new one is a decision of its own",
    ],
    kind_misplaced: ["A kind does not stand where its name says", "Keep it in kinds/<kind>/v<N>.yaml"],
    kind_taken: ["A kind, or a method of it, exists already", "Give it another name"],
    reserved_method: [
      "A method of a kind has a name that the plugin protocol uses",
      "Choose another wire_method_template",
    ],
    invalid_name: ["A name is not snake_case", "Use lower case letters, digits and single underscores"],
    reserved_name: ["A name has a meaning of its own in a target language", "Choose another name"],
    name_taken: ["Two things would get one name in a target language", "Rename one of them"],
    invalid_version: ["A version is not SemVer", "Write MAJOR.MINOR.PATCH, such as 1.0.0"],
    version_misplaced: ["The major version is not the one in the file's name", "Make the two agree"],
    unknown_dispatch: ["There is no such dispatch class", "Use one of the five classes"],
    duplicate_hook: ["A hook stands twice in one kind", "Rename or remove one of them"],
    duplicate_alias: ["A name on a platform means two hooks", "Give it to one of them"],
    invalid_template: ["A template has parts that mean nothing here", "Use the documented template"],
    invalid_value: ["A value is not allowed here", "Use one of the values named"],
    schema_missing: ["A schema does not exist", "Add the file, or correct the path"],
    schema_outside: ["A file is outside the hookspec", "Copy it into kinds/<kind>/schemas: nothing is fetched"],
    reference_dangling: ["A reference leads to nothing", "Correct it, or add what it names"],
    recursive_schema: ["A schema holds itself", 'End the circle with { "type": "object" }'],
    unsupported_keyword: [
      "A keyword cannot be carried into every language",
      "Say it with the keywords named in docs/hookspec.md",
    ],
    invalid_schema: ["No types can be made of a schema", "Correct the keyword named"],
    unknown_target: ["There is no such target language", "Use one of the languages named"],
    target_outside: ["A target is outside the folder that holds the hookspec", "Name a folder within it"],
  }),
};
