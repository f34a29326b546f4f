/**
 * Bytes → lines → messages → calls.
 *
 * @module
 */
export { createConnection } from "./connection.ts";
export {
  type CallOptions,
  type Connection,
  type ConnectionOptions,
  type IncomingRequest,
  type Irregularity,
  MAX_LINE_BYTES,
  type Wire,
} from "./connection_types.ts";
export { type ConnectionPair, createConnectionPair, type PairOptions, type SideOptions } from "./memory_pair.ts";
export { portableBytes } from "./portable_bytes.ts";
export { type LineListeners, LineReader, type LineReaderOptions } from "./read_lines.ts";
export { type MethodType, type TypedConnection, typedConnection } from "./typed_connection.ts";
