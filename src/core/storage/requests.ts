/**
 * Reads a plugin's `kaged.storage.*` requests.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { PluginOperation, StatementCall } from "./messages.ts";

/** Returns the SQL of a plugin's prepared statement. */
export type SqlOfHandle = (handle: string) => string;

const PREFIX = "kaged.storage.";
const STATEMENT_FIELDS = ["sql", "statement", "params"];
const CALL_FIELDS = [...STATEMENT_FIELDS, "rows_as"];

/** Reads a request. Throws `protocol.method_unknown`, `storage.params_invalid`, or what `sqlOfHandle` throws. */
export function parseStorageRequest(
  method: string,
  params: unknown,
  { maxBatch, sqlOfHandle }: { readonly maxBatch: number; readonly sqlOfHandle: SqlOfHandle },
): PluginOperation {
  const op = method.startsWith(PREFIX) ? method.slice(PREFIX.length) : "";
  switch (op) {
    case "schema":
      return { op };
    case "prepare": {
      const { sql } = fieldsOf(params, ["sql"]);
      if (typeof sql !== "string") throw invalid('"sql" must be a string');
      return { op, sql };
    }
    case "query":
    case "exec": {
      const fields = fieldsOf(params, CALL_FIELDS);
      const call = statementOf(fields, "", sqlOfHandle);
      return { op, sql: call.sql, params: call.params, asArrays: asArrays(fields.rows_as) };
    }
    case "batch": {
      const { statements, rows_as } = fieldsOf(params, ["statements", "rows_as"]);
      if (!Array.isArray(statements) || statements.length === 0) {
        throw invalid('"statements" must be a list, not empty');
      }
      if (statements.length > maxBatch) throw invalid(`"statements" has more than ${maxBatch} entries`);
      const calls = statements.map((each, index) => {
        const place = `statements[${index}].`;
        return statementOf(fieldsOf(each, STATEMENT_FIELDS, place), place, sqlOfHandle);
      });
      return { op, statements: calls, asArrays: asArrays(rows_as) };
    }
    default:
      throw new HostError("protocol.method_unknown", `The host has no method "${method}"`);
  }
}

/** Returns the SQL of an operation, for the audit log. */
export function sqlOf(operation: PluginOperation): string {
  if (operation.op === "schema") return "";
  return operation.op === "batch" ? operation.statements.map(({ sql }) => sql).join("; ") : operation.sql;
}

function fieldsOf(value: unknown, known: readonly string[], place: string = ""): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(place === "" ? "The params must be an object" : `"${place.slice(0, -1)}" must be an object`);
  }
  const extra = Object.keys(value).find((name) => !known.includes(name) && !name.startsWith("_"));
  if (extra !== undefined) throw invalid(`There is no "${place}${extra}"; there is ${known.join(", ")}`);
  return value as Record<string, unknown>;
}

function statementOf(fields: Record<string, unknown>, place: string, sqlOfHandle: SqlOfHandle): StatementCall {
  const { statement, params } = fields;
  if (statement !== undefined && fields.sql !== undefined) {
    throw invalid(`"${place}sql" and "${place}statement" stand for each other: send one`);
  }
  if (statement !== undefined && typeof statement !== "string") throw invalid(`"${place}statement" must be a string`);
  const sql = statement === undefined ? fields.sql : sqlOfHandle(statement);
  if (typeof sql !== "string") throw invalid(`"${place}sql" must be a string`);
  if (params !== undefined && params !== null && typeof params !== "object") {
    throw invalid(`"${place}params" must be an array or an object`);
  }
  return { sql, params: params ?? [] };
}

function asArrays(value: unknown): boolean {
  if (value === undefined || value === "objects") return false;
  if (value === "arrays") return true;
  throw invalid('"rows_as" must be "objects" or "arrays"');
}

function invalid(message: string): HostError {
  return new HostError("storage.params_invalid", message);
}

const MAX_CHARACTERS = 500;
const TOKEN =
  /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?|--[^\n]*|\/\*[^]*?(?:\*\/|$)|[A-Za-z0-9_$\u0080-\uffff]+|\s+|[^]/g;

/** Returns the shape of a statement: words and plain names stay, every value becomes `?`, comments go. */
export function shapeOf(sql: string): string {
  let shape = "";
  for (const [token] of sql.slice(0, MAX_CHARACTERS * 8).matchAll(TOKEN)) {
    if (shape.length > MAX_CHARACTERS) break;
    shape += shapeOfToken(token);
  }
  const trimmed = shape.replace(/ +/g, " ").trim();
  return trimmed.length > MAX_CHARACTERS ? `${trimmed.slice(0, MAX_CHARACTERS)}…` : trimmed;
}

function shapeOfToken(token: string): string {
  if (/^\s/.test(token) || token.startsWith("--") || token.startsWith("/*")) return " ";
  if (/^['\d]/.test(token)) return "?";
  if (/^["`[]/.test(token)) return /^.\w{1,64}.$/.test(token) ? token : '"?"';
  if (/^\w/.test(token)) return token.slice(0, 64);
  // A control character in the log would be one in somebody's terminal.
  return token < " " || token === "\x7f" ? " " : token;
}
