/**
 * Failures of the host itself: its agents, sessions, tools and hooks.
 *
 * @module
 */
import { type ErrorRow, row } from "./row.ts";

export const HOST_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "host.internal": row(-32603, 500, "The host broke one of its own rules", "Report it with the message and the steps"),
  "host.misuse": row(-32602, 400, "A command or a call was given arguments it does not take", "Read the usage"),
  "host.option_invalid": row(-32602, 400, "A program passed an option that cannot be used", "Correct what is named"),
  "host.file_unreadable": row(-32603, 500, "A file could not be read or written", "Check the path and its permissions"),
  "host.home_exposed": row(-32603, 500, "Others than the operator can change the home", "Take their rights away"),
  "host.interrupted": row(-32603, 499, "A signal ended the command", "Nothing, if it was meant"),
  "host.stopped": row(-32603, 503, "The host was stopped while it started", "Start it again when it is wanted"),
  "host.tracing_missing": row(
    -32603,
    500,
    "Tracing was asked for and @opentelemetry/api is not installed",
    "Install it, or leave the option out",
  ),
  "host.runtime_old": row(-32603, 500, "The runtime is older than the host needs", "Use a newer one"),
  "agent.unknown": row(-32602, 404, "The project has no such agent", "Use a path such as primary.subagents.researcher"),
  "session.unknown": row(-32602, 404, "No such session is open", "Open it with openSession()"),
  "session.duplicate": row(-32602, 409, "A session of that id is open already", "Close it, or use another id"),
  "session.blocked": row(-32001, 403, "A hook blocked the start of a session", "Do what its reason says"),
  "instance.ambiguous": row(-32602, 409, "Several instances of the plugin run", "Name the agent whose plugin is meant"),
  "tool.unknown": row(-32601, 404, "The agent has no such tool", "Call one of the agent's tools"),
  "tool.blocked": row(-32001, 403, "A hook blocked the call of a tool", "Do what its reason says, or ask its owner"),
  "tool.quarantined": row(
    -32001,
    403,
    "A tool of an MCP server is not as the operator agreed to it",
    "Look at the difference, then run kaged plugin approve-tools",
  ),
  "tool.not_quarantined": row(-32602, 404, "No such tool is quarantined", "Approve one of those that are"),
  "tool.approval_stale": row(-32602, 409, "The tool has changed again since it was shown", "Look at it again"),
  "tool.denied": row(-32001, 403, "A rule or a person said no to the call of a tool", "Do what the reason says"),
  "approval.unknown": row(
    -32602,
    404,
    "There is no such request for a person's yes",
    "List them: kaged approvals list",
  ),
  "approval.ended": row(
    -32602,
    409,
    "The request has ended: answered, run out or withdrawn",
    "Nothing: the first counts",
  ),
  "approval.answer_invalid": row(-32602, 400, "An answer to a request has a mistake", "Read docs/approvals.md"),
  "result.unknown": row(-32602, 404, "The session keeps no such result", "Use the handle of a kept result's note"),
  "result.dropped": row(-32602, 410, "A kept result gave its room to newer ones", "Call the tool again, for less"),
  "tool.arguments_invalid": row(-32602, 400, "The tool does not take these arguments", "Follow its schema"),
};
