/**
 * One row of the error table, and rows that several rooms share.
 *
 * @module
 */

/** One failure: its numbers on the wire and over HTTP, and its words for a person. */
export interface ErrorRow {
  /** JSON-RPC error number. */
  readonly rpc: number;
  /** HTTP status. */
  readonly http: number;
  /** Why it happens. */
  readonly cause: string;
  /** What to do about it. */
  readonly fix: string;
}

/** Returns a row of the table. */
export function row(rpc: number, http: number, cause: string, fix: string): ErrorRow {
  return { rpc, http, cause, fix };
}

/** Rows that every kind of YAML file shares. */
export function yamlRows(room: string, it: string): Record<string, ErrorRow> {
  const reasons: Record<string, [string, string]> = {
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
  };
  return Object.fromEntries(
    Object.entries(reasons).map(([reason, [cause, fix]]) => [`${room}.${reason}`, row(-32602, 400, cause, fix)]),
  );
}

/** Rows that every kind of JSON file shares. */
export function jsonRows(room: string): Record<string, ErrorRow> {
  return {
    [`${room}.json_syntax`]: row(-32602, 400, "The JSON cannot be read", "Correct the syntax at this place"),
    [`${room}.json_comment`]: row(
      -32602,
      400,
      "The file is JSON with comments, and JSON has none",
      "Take the comments out; say what you have to say in a description",
    ),
    [`${room}.duplicate_key`]: row(-32602, 400, "A key stands twice in one map", "Keep one of the two"),
  };
}

/** Rows that every TOML file of the operator shares. */
export function tomlRows(room: string, it: string): Record<string, ErrorRow> {
  return {
    [`${room}.unreadable`]: row(-32603, 500, `${it} cannot be read`, "Check that it is a file you may read"),
    [`${room}.invalid`]: row(-32602, 400, `${it} breaks the rules listed`, "Correct each listed place"),
    [`${room}.too_large`]: row(-32602, 400, `${it} is larger than it may be`, "Keep it under 1 MiB"),
    [`${room}.not_utf8`]: row(-32602, 400, `${it} is not UTF-8 text`, "Save it as UTF-8"),
    [`${room}.toml_syntax`]: row(-32602, 400, "The TOML cannot be read", "Correct the syntax at this place"),
    [`${room}.unknown_key`]: row(-32602, 400, "A key is not known here", "Remove it"),
    [`${room}.wrong_type`]: row(-32602, 400, "A value has the wrong type", "Give a value of the type named"),
    [`${room}.edit_refused`]: row(
      -32603,
      409,
      `${it} cannot be changed without touching something else`,
      "Edit it by hand",
    ),
    [`${room}.invalid_value`]: row(-32602, 400, "A value is outside its bounds", "Use a value within the bounds"),
  };
}
