/**
 * How calls are cancelled and report progress on the plugin wire.
 *
 * @module
 */
import type { CallNotices } from "./connection_types.ts";

/** `system.cancel { id }` and `system.progress { id, … }`. */
export const SYSTEM_NOTICES: CallNotices = {
  cancel: "system.cancel",
  progress: "system.progress",
  cancelParams: (id) => ({ id }),
  cancelledId: idIn,
  progressId: idIn,
};

function idIn(params: unknown): unknown {
  return (params as { id?: unknown } | undefined)?.id;
}
