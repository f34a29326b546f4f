// Command writer-go answers the hooks of the kind writer without an SDK: one JSON-RPC message per line on stdin and
// stdout. Its types are generated: kaged hookspec emit.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"example.com/writer-go/writer"
)

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func describe() writer.Description {
	return writer.Description{Language: "Go", Formats: []writer.Format{"shout"}}
}

func render(input writer.RenderInput) writer.Text {
	return writer.Text{Text: strings.ToUpper(strings.TrimRight(input.Text, ".")) + "!"}
}

func polish(input writer.Text) writer.Text {
	return writer.Text{Text: strings.TrimRight(input.Text, ".") + "."}
}

// answer returns the result of a request, or why there is none.
func answer(method string, params json.RawMessage) (any, *failure) {
	switch method {
	case "initialize":
		methods := []string{"writer.hook.describe", "writer.hook.render", "writer.hook.polish"}
		return map[string]any{
			"name": "writer-go", "version": "0.1.0", "api_version": 1, "methods": methods,
			"notifications": []string{}, "capabilities_used": []string{},
		}, nil
	case "config.update":
		return struct{}{}, nil
	case "ping":
		return map[string]string{"status": "ok"}, nil
	case "writer.hook.describe":
		return describe(), nil
	case "writer.hook.render":
		return decoded(params, render)
	case "writer.hook.polish":
		return decoded(params, polish)
	}
	return nil, &failure{-32601, fmt.Sprintf("No method %q", method)}
}

func decoded[I, O any](params json.RawMessage, hook func(I) O) (any, *failure) {
	var input I
	if err := json.Unmarshal(params, &input); err != nil {
		return nil, &failure{-32602, err.Error()}
	}
	return hook(input), nil
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var request message
		if json.Unmarshal(line, &request) != nil {
			fmt.Fprintln(os.Stderr, "That was no message")
		} else if request.Method == "shutdown" {
			return
		} else if request.ID != nil {
			result, failed := answer(request.Method, request.Params)
			response := map[string]any{"jsonrpc": "2.0", "id": request.ID}
			if failed != nil {
				response["error"] = failed
			} else {
				response["result"] = result
			}
			out.Encode(response)
		}
	}
}
