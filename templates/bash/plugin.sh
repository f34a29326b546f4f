#!/usr/bin/env bash
# A kaged plugin: one JSON-RPC message per line, in on stdin and out on stdout. Log to stderr.

greeting=Hello

# Answers the current request: result <jq program> [jq options]
result() {
  local program=$1
  shift
  jq -c "$@" "{jsonrpc: \"2.0\", id: .id, result: ($program)}" <<<"$line"
}

while IFS= read -r line; do
  case $(jq -r '.method // empty' <<<"$line") in
    initialize)
      result '{
        name: "{{name}}", version: "0.1.0", api_version: 1,
        methods: ["greetings.list"], notifications: [], capabilities_used: ["exec:jq:plugin:/"]
      }'
      ;;
    config.update)
      greeting=$(jq -r '.params.greeting // "Hello"' <<<"$line")
      result '{}'
      ;;
    initialized) ;; # A notification: no answer.
    ping) result '{status: "ok"}' ;;
    shutdown) exit 0 ;;
    greetings.list) result '{greetings: ["Hello", "Ahoy", "Good day"]}' ;;
    {{name}}.greet) result '{text: "\($greeting), \(.params.who)!"}' --arg greeting "$greeting" ;;
    kaged.hook.on_session_start) result '{inject: "Greet people with \"\($greeting)\"."}' --arg greeting "$greeting" ;;
    *)
      # Only a request is answered, and a request has an id.
      jq -c 'select(.id != null) | {jsonrpc: "2.0", id, error: {code: -32601, message: "Method not found"}}' <<<"$line"
      ;;
  esac
done
