/**
 * Secrets that a plugin never holds, and the operator's limits on requests that carry them.
 *
 * @module
 */

/** A secret that the gatekeeper of one cage puts in the place of its placeholder. */
export interface BoundSecret {
  /** Its key in the manifest. */
  readonly name: string;
  /** `kaged_secret_<32 hex>`: all that the plugin ever holds. */
  readonly placeholder: string;
  /** Where it may go. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** Returns the value of now: a secret that was changed is used by the next request. */
  value(): string;
}

/** A limit of the operator on requests to a bound host. */
export interface NetLimit {
  /** The bound host, in its canonical spelling. */
  readonly host: string;
  /** The bound port of it. */
  readonly port: number;
  /** Methods that may be used, in capitals; null for all. */
  readonly methods: readonly string[] | null;
  /** Paths that may be asked for; a `*` at the end of one stands for the rest. Null for all. */
  readonly paths: readonly string[] | null;
  /** Most bytes that go up within a minute, heads included; null for no limit. */
  readonly upBytesPerMinute: number | null;
  /** Most bytes that come down within a minute, heads included; null for no limit. */
  readonly downBytesPerMinute: number | null;
}
