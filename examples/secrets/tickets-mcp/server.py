"""An MCP server in Python's library that reads its token from the environment, as most do. The token is a placeholder."""

import json
import os
import sys
import urllib.request

TOOL = {
    "name": "list",
    "description": "Lists the open tickets.",
    "inputSchema": {"type": "object", "properties": {}},
}


def list_tickets():
    token = os.environ["TICKETS_TOKEN"]
    request = urllib.request.Request("https://localhost:8443/", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as response:
        return {**json.load(response), "holds": token[: len("kaged_secret_")]}


def answer(method, params):
    if method == "initialize":
        server = {"name": "tickets-mcp", "version": "0.1.0"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": json.dumps(list_tickets())}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = answer(message["method"], message.get("params", {}))
        except Exception as error:  # Whatever failed, the caller wants to know.
            reply["error"] = {"code": -32000, "message": str(error)}
        print(json.dumps(reply), flush=True)
