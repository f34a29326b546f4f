/**
 * The keys of install records.
 *
 * @module
 */

/** Keys of `[plugins.<name>]` in local.toml that are the host's: no plugin may have a secret of such a name. */
export const RECORD_KEYS: readonly string[] = [
  "installed",
  "version",
  "hash",
  "local",
  "enabled",
  "package",
  "source",
  "projects",
];
