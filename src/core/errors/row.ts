/**
 * One row of the error table, and rows that several rooms share.
 *
 * @module
 */

/** One kind of failure: its numbers on the wire and over HTTP, and two sentences for a person. */
export interface ErrorRow {
  /** JSON-RPC error number on the wire. */
  readonly rpc: number;
  /** HTTP status with which the API answers. */
  readonly http: number;
  /** Why it happens, without a closing period. */
  readonly cause: string;
  /** The next step of the person who reads it. */
  readonly fix: string;
}

/** Returns a row of the table. */
export function row(rpc: number, http: number, cause: string, fix: string): ErrorRow {
  return { rpc, http, cause, fix };
}

/** Returns rows of one family that share their numbers: reason → cause and fix. */
export function rows(
  family: string,
  rpc: number,
  http: number,
  reasons: Readonly<Record<string, readonly [cause: string, fix: string]>>,
): Record<string, ErrorRow> {
  return Object.fromEntries(
    Object.entries(reasons).map(([reason, [cause, fix]]) => [`${family}.${reason}`, row(rpc, http, cause, fix)]),
  );
}

/** Returns the rows for every mistake that a YAML file can hold, whatever it is about. */
export function yamlRows(family: string, it: string): Record<string, ErrorRow> {
  return rows(family, -32602, 400, {
    unreadable: [`The ${it} cannot be read`, "Check that it is a file you may read"],
    invalid: [`The ${it} breaks the rules listed`, "Correct each listed place"],
    too_large: [`The ${it} is larger than it may be`, "Keep it under 1 MiB and write less"],
    too_deep: [`The ${it} is nested too deeply`, "Keep every structure in it within 64 levels"],
    not_utf8: [`The ${it} is not UTF-8 text`, "Save it as UTF-8"],
    not_a_map: [`The ${it} is not a map of fields`, "Write one key: value on each line"],
    yaml_syntax: ["The YAML cannot be read", "Correct the syntax at this place"],
    yaml_documents: ["The file holds more than one YAML document", "Keep one document, without --- between parts"],
    yaml_duplicate_key: ["A key stands twice in one map", "Keep one of the two"],
    yaml_key: ["A key is not a string", "Use plain text as the key"],
    yaml_tag: ["A YAML tag has no meaning here", "Leave the tag out"],
    yaml_alias: ["An alias points at nothing, or at itself", "Write the value out"],
    yaml_number: ["A number is not finite", "Write a number that JSON can hold"],
    missing_field: ["A required field is missing", "Add it"],
    unknown_key: ["A key is not known here", "Remove it"],
    forbidden_key: ["A key has a name that is never allowed", "Choose another name"],
    wrong_type: ["A value has the wrong type", "Give a value of the type named"],
  });
}

/** Returns the rows for every mistake that a JSON file can hold. */
export function jsonRows(family: string): Record<string, ErrorRow> {
  return rows(family, -32602, 400, {
    json_syntax: ["The JSON cannot be read", "Correct the syntax at this place"],
    json_comment: [
      "The file is JSON with comments, and JSON has none",
      "Take the comments out; say what you have to say in a description",
    ],
    duplicate_key: ["A key stands twice in one map", "Keep one of the two"],
  });
}

/** Returns the rows for every mistake that a TOML file of the operator can hold. */
export function tomlRows(family: string, it: string): Record<string, ErrorRow> {
  return {
    ...rows(family, -32602, 400, {
      invalid: [`${it} breaks the rules listed`, "Correct each listed place"],
      too_large: [`${it} is larger than it may be`, "Keep it under 1 MiB"],
      not_utf8: [`${it} is not UTF-8 text`, "Save it as UTF-8"],
      toml_syntax: ["The TOML cannot be read", "Correct the syntax at this place"],
      toml_duplicate_key: ["A key or a table stands twice", "Keep one of the two, with the keys of both under it"],
      unknown_key: ["A key is not known here", "Remove it"],
      wrong_type: ["A value has the wrong type", "Give a value of the type named"],
      invalid_value: ["A value is outside its bounds", "Use a value within the bounds"],
    }),
    ...rows(family, -32603, 500, { unreadable: [`${it} cannot be read`, "Check that it is a file you may read"] }),
    ...rows(family, -32603, 409, {
      edit_refused: [`${it} cannot be changed without touching something else`, "Edit it by hand"],
    }),
  };
}
