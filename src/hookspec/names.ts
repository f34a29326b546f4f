/**
 * Names: the spelling of one name in each language, and the names that a language reserves.
 *
 * @module
 */

/** A name of a kind, a hook or a platform. */
export const SNAKE_CASE: RegExp = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;

/** A name of a field: snake_case or camelCase. */
export const FIELD_NAME: RegExp = /^[a-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*$/;

/**
 * Returns a name in PascalCase.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.equal(pascalCase("execute.input"), "ExecuteInput");
 * assert.equal(pascalCase("sessionId"), "SessionId");
 * ```
 */
export function pascalCase(name: string): string {
  return name.split(/[^A-Za-z0-9]+/).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** Returns a name in camelCase. */
export function camelCase(name: string): string {
  const pascal = pascalCase(name);
  return pascal.charAt(0).toLowerCase() + pascal.slice(1);
}

/** Words of Python that cannot be a name. */
const PYTHON_WORDS: readonly string[] =
  `and as assert async await break class continue def del elif else except finally for from global if import in is lambda
  nonlocal not or pass raise return try while with yield`.split(/\s+/);

/** Attributes of a pydantic 1 or 2 model, and the types that fields are declared with. */
const PYDANTIC_WORDS: readonly string[] =
  `bool construct copy dict fields float from_orm int json parse_file parse_obj parse_raw schema schema_json str
  update_forward_refs validate model_computed_fields model_config model_construct model_copy model_dump model_dump_json
  model_extra model_fields model_fields_set model_json_schema model_parametrized_name model_post_init model_rebuild
  model_validate model_validate_json model_validate_strings`.split(/\s+/);

/** Properties that every JavaScript object has already. */
const OBJECT_WORDS: readonly string[] =
  `constructor hasOwnProperty isPrototypeOf propertyIsEnumerable prototype toLocaleString toString valueOf`.split(
    /\s+/,
  );

/** Words of Go that cannot be the name of a package. */
const GO_WORDS: readonly string[] =
  `break case chan const continue default defer else fallthrough for func go goto if import interface main map package
  range return select struct switch type var`.split(/\s+/);

/** Names that generated files use themselves. */
const TYPE_WORDS: readonly string[] =
  `Any BaseModel Dict DispatchClass False Field HOOKS HookMetadata HookName HookPayloads HookSchemas Hooks KIND Kind
  KindAPIVersion List Literal None Optional PayloadSchema PayloadVerdict Promise Protocol Readonly Record
  StrictBool StrictFloat StrictInt StrictStr True Union`.split(/\s+/);

/** Whether no field may have this name. */
export function isReservedField(name: string): boolean {
  return [PYTHON_WORDS, PYDANTIC_WORDS, OBJECT_WORDS].some((words) => words.includes(name));
}

/** Whether no hook may have this name. */
export function isReservedHook(name: string): boolean {
  return PYTHON_WORDS.includes(name);
}

/** Whether no kind may have this name: a word of Go, or what looks like the version of another kind in a file's name. */
export function isReservedKind(name: string): boolean {
  return GO_WORDS.includes(name) || /_v[0-9]+$/.test(name);
}

/** Whether no type of `kind` may have this name. */
export function isReservedType(name: string, kind: string): boolean {
  return TYPE_WORDS.includes(name) || name === pluginTypeName(kind) || /^[0-9]|^$/.test(name);
}

/** Name of the interface that a plugin of a kind has. */
export function pluginTypeName(kind: string): string {
  return `${pascalCase(kind)}Plugin`;
}
