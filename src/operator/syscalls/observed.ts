/**
 * What a plugin was seen to do in one run.
 *
 * @module
 */

/** A path it used or asked for. */
export interface ObservedPath {
  /** Absolute path, as the plugin sees it. */
  readonly path: string;
  /** Whether it wanted to change something. */
  readonly access: "read" | "write";
  /** Whether it got what it wanted. */
  readonly ok: boolean;
}

/** A network address it connected to by itself, past any relay. */
export interface ObservedAddress {
  /** IP address. */
  readonly address: string;
  /** Port. */
  readonly port: number;
  /** Whether it was there at once; null when the answer came later and was not seen. */
  readonly ok: boolean | null;
}

/** What a plugin was seen to do. */
export interface Observed {
  /** Paths; programs it started are not among them. */
  readonly paths: readonly ObservedPath[];
  /** Absolute paths of programs it started. */
  readonly programs: readonly string[];
  /** Addresses. */
  readonly addresses: readonly ObservedAddress[];
  /** Ports it took for itself; 0 is any. */
  readonly ports: readonly number[];
}
