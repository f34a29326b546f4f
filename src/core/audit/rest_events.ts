/**
 * Events of plugins that start on demand.
 *
 * @module
 */

/** Data of these events, by type. "It" is the plugin instance that the event is about. */
export interface RestAuditData {
  /** Nobody used it for that long: its process is ended, and comes back with the next call or hook. */
  "plugin.resting": { idle_ms: number };
  /** It rested, and a call or a hook has it start; `need` is the method, cut to 200 characters. */
  "plugin.woken": { need: string };
}
