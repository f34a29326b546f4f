/**
 * Failures of MCP servers and of serving as one.
 *
 * @module
 */
import { type ErrorRow, row, rows } from "./row.ts";

export const MCP_ERRORS: Readonly<Record<string, ErrorRow>> = {
  "mcp.sdk_missing": row(
    -32603,
    500,
    "A package of the MCP SDK is not installed beside the host",
    "Install the package that is named",
  ),
  ...rows("mcp", -32600, 502, {
    version_unsupported: [
      "The MCP server speaks a version of the protocol that the host does not",
      "Use a server that speaks one of the versions named",
    ],
    malformed: ["The MCP server sent a message that the protocol does not allow", "Mend the server"],
  }),
  ...rows("mcp", -32603, 502, {
    too_many_tools: [
      "The MCP server lists more tools, or longer ones, than a host takes",
      "Let the server offer fewer tools",
    ],
    list_too_long: [
      "The MCP server lists more resources or prompts, or longer ones, than a host takes",
      "Let the server list fewer, or offer templates of resources",
    ],
    too_many_rounds: [
      "The MCP server asked for more again and again and never gave a result",
      "Let the server ask for everything at once",
    ],
    server_failed: [
      "An MCP server of a hook map cannot be started, or has ended",
      "Run its command by hand and read what it says",
    ],
  }),
  ...rows("mcp", -32601, 404, {
    not_offered: ["The plugin is no MCP server, or has no such part", "See what it offers: kaged mcp list"],
  }),
  "mcp.task_refused": row(-32601, 422, "The tool cannot be called as a task", "Call it without task"),
  "mcp.task_failed": row(-32603, 422, "A background call has failed, or was cancelled", "Read its message"),
  "mcp.capability_missing": row(
    -32021,
    400,
    "The MCP client has not declared a capability that the request needs",
    "Declare it, or use another client",
  ),
  "mcp.task_unknown": row(
    -32602,
    404,
    "No background call has that id, or its record is gone",
    "List the tasks, or begin the call again",
  ),
  ...rows("mcp", -32602, 404, {
    resource_unknown: ["No MCP server of the agent has such a resource", "List the resources of the agent"],
    prompt_unknown: ["No MCP server of the agent has such a prompt", "List the prompts of the agent"],
  }),
  ...rows("mcp", -32602, 409, {
    resource_ambiguous: [
      "Several MCP servers of the agent claim the resource",
      "Name the plugin: kaged:<plugin>/<uri>",
    ],
  }),
  ...rows("mcp", -32602, 400, {
    params_invalid: ["A request for a part of an MCP server has a mistake", "Correct the part that is named"],
  }),
  ...rows("mcp", -32001, 403, {
    request_refused: ["The host, or a person, refused a request of an MCP server", "Read the reason"],
  }),
  ...rows("mcp", -32603, 422, {
    input_refused: [
      "The MCP server needs something of its client that the host does not offer it",
      "Offer it (elicitation, sampling or roots), or use the tool in another way",
    ],
  }),
  ...rows("mcp", -32603, 409, {
    tool_collision: ["Two tools of an MCP server have one name here", "Rename one of the two in the server"],
  }),
  ...rows("mcp", -32602, 400, {
    request_state_invalid: [
      "No call of this session waits under the state that the MCP client sent",
      "Send the request again without requestState",
    ],
    cursor_unknown: ["A list has no page under the cursor that the MCP client sent", "Ask without a cursor"],
  }),
  ...rows("mcp", -32603, 409, {
    client_cannot: [
      "A caged MCP server asked for something that the client does not take",
      "Use a client that declares the capability",
    ],
  }),
  "mcp.sessions_full": row(-32005, 503, "Every session of the MCP server is in use", "End one, or try again later"),
  "mcp.tool_failed": row(-32000, 422, "A tool of an MCP server reported an error", "Read its message"),
};
