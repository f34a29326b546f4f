/**
 * Failures of background jobs.
 *
 * @module
 */
import { type ErrorRow, row } from "./row.ts";

export const JOBS_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "jobs.unknown": row(-32602, 404, "There is no such job in this scope", "List the jobs, or start one"),
  "jobs.agent_unknown": row(-32602, 404, "No run is registered for the agent", "Register it with agent()"),
  "jobs.agent_duplicate": row(-32602, 409, "The agent has a run already", "Register one run for each agent"),
  "jobs.id_invalid": row(-32602, 400, "An id, a scope or a name is not a plain name", "Use letters, digits, _ and -"),
  "jobs.input_invalid": row(-32602, 400, "The request breaks the rules listed", "Correct each listed place"),
  "jobs.not_finished": row(-32006, 409, "The job has not come to its end", "Cancel it first, or wait"),
  "jobs.finished": row(-32006, 409, "The job has come to its end already", "Nothing: it can be deleted"),
  "jobs.run_failed": row(-32603, 500, "The agent failed", "Read the message: it is the agent's own"),
  "jobs.result_too_large": row(
    -32603,
    500,
    "The answer of the agent has more bytes than the limit for results",
    "Let the agent write it to a file and answer with its path, or raise maxResultBytes",
  ),
  "jobs.result_not_kept": row(
    -32603,
    500,
    "The store refuses the answer of the agent",
    "Read the message, check the store, and start the job again",
  ),
  "jobs.result_missing": row(-32602, 404, "The job has no result", "Wait for its end, or read its error"),
  "jobs.scope_refused": row(-32001, 403, "The caller may not see jobs of that scope", "Leave scope= out"),
  "jobs.stopped": row(-32006, 409, "The jobs were stopped", "Make new ones with createJobs()"),
  "jobs.schedule_invalid": row(-32602, 400, "A schedule cannot be read", "Use a cron pattern and a known time zone"),
  "jobs.schedule_duplicate": row(-32602, 409, "A schedule of that id exists", "End it first, or use another id"),
  "jobs.record_broken": row(-32603, 500, "A file of a job cannot be read", "Repair the file, or remove it"),
  "jobs.folder_busy": row(-32603, 500, "The jobs folder stays locked", "End the process that holds the lock"),
  "jobs.library_missing": row(-32603, 500, "A library for this store is not installed", "Install the one named"),
  "jobs.layout_newer": row(
    -32603,
    500,
    "A newer version of this package changed the jobs database",
    "Update this host to that version, or use a copy from before",
  ),
  "jobs.store_unavailable": row(-32603, 503, "The database cannot be reached", "Check its address, then try again"),
};
