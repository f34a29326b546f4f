/**
 * The options of `kaged mcp`.
 *
 * @module
 */
import type { ClientOffer } from "../core/mcp/peer.ts";
import type { HostFlags } from "./with_host.ts";

/** Values of the options of `kaged mcp`. */
export interface McpFlags extends HostFlags {
  readonly hooks: boolean;
  readonly names: "long" | "short";
  readonly offer: readonly ClientOffer[];
  readonly http?: boolean;
  readonly port?: number;
  readonly host?: string;
  readonly tokenFile?: string;
}
