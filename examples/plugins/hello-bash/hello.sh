#!/usr/bin/env bash
# A plugin without an SDK: bash reads a line from stdin, jq takes it apart and writes the answer to stdout.
# Logs go to stderr; stdout is for JSON-RPC only.
set -u

greeting=Hello
greeted=0

# answer FILTER [jq options]: writes the response to $line with the result that FILTER makes of it.
answer() {
  local filter=$1
  shift
  jq -c "$@" "{jsonrpc: \"2.0\", id, result: ($filter)}" <<<"$line"
}

# refuse CODE MESSAGE: writes an error response to $line.
refuse() {
  jq -c --argjson code "$1" --arg message "$2" '{jsonrpc: "2.0", id, error: {$code, $message}}' <<<"$line"
}

while IFS= read -r line; do
  # Only a request has an id, and only a request is answered.
  read -r method is_request < <(jq -r '"\(.method // "-") \(has("id"))"' <<<"$line")
  if [[ $is_request == false ]]; then
    [[ $method == shutdown ]] && exit 0
    continue
  fi

  case $method in
    initialize)
      answer '{
        name: "hello-bash", version: "0.1.0", api_version: 1,
        methods: ["hello-bash.greet", "hello.stats"], notifications: [], capabilities_used: ["exec:jq:plugin:/"]
      }'
      ;;
    config.update)
      greeting=$(jq -r '.params.greeting // "Hello"' <<<"$line")
      answer '{}'
      ;;
    ping) answer '{status: "ok"}' ;;
    hello-bash.greet)
      greeted=$((greeted + 1))
      echo "greeting number $greeted" >&2
      answer '{text: "\($greeting), \(.params.name)!", agent: .params._context.agent_path}' --arg greeting "$greeting"
      ;;
    hello.stats) answer '{$greeted}' --argjson greeted "$greeted" ;;
    *) refuse -32601 "No method \"$method\"" ;;
  esac
done
