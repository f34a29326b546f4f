/**
 * Failures of recording and replaying.
 *
 * @module
 */
import { type ErrorRow, row } from "./row.ts";

export const TAPE_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "tape.exists": row(-32602, 409, "A tape would overwrite something", "Name a new file"),
  "tape.invalid": row(-32602, 422, "A file is no tape, or is damaged", "Record it again"),
  "tape.other_plugin": row(-32602, 409, "A tape is of another plugin", "Name the folder of the plugin it is of"),
  "tape.secret_missing": row(-32602, 422, "Secrets are not on a tape", "Give them with --config"),
  "tape.unreadable": row(-32602, 404, "A tape cannot be read", "Check the path and its permissions"),
  "tape.unwritable": row(-32603, 500, "A tape cannot be written", "Check the path, its permissions and the disk"),
  "tape.version": row(-32602, 422, "A tape has another format", "Record it again"),
};
