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
  readonly host: string;
  readonly port: number;
  readonly methods: readonly string[] | null;
  readonly paths: readonly string[] | null;
  readonly upBytesPerMinute: number | null;
  readonly downBytesPerMinute: number | null;
}
