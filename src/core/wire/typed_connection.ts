/**
 * A connection whose methods the compiler knows.
 *
 * @module
 */
import type { CallOptions, Connection } from "./connection_types.ts";

/** What one method takes and gives. */
export interface MethodType {
  /** What it takes. */
  params: unknown;
  /** What it gives. */
  result: unknown;
}

/** The same connection, seen through a table of methods. What comes back is believed, not checked. */
export interface TypedConnection<Methods extends { [Name in keyof Methods]: MethodType }>
  extends Omit<Connection, "call"> {
  /** Calls a method of the table. */
  call<Name extends keyof Methods & string>(
    method: Name,
    params: Methods[Name]["params"],
    options?: CallOptions,
  ): Promise<Methods[Name]["result"]>;
}

/**
 * Returns `connection` itself with typed calls.
 *
 * @example
 * ```ts
 * interface Methods {
 *   ping: { params: undefined; result: { status: string } };
 * }
 * const status = (connection: Connection) => typedConnection<Methods>(connection).call("ping", undefined);
 * ```
 */
export function typedConnection<Methods extends { [Name in keyof Methods]: MethodType }>(
  connection: Connection,
): TypedConnection<Methods> {
  return connection as TypedConnection<Methods>;
}
