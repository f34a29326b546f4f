// Loaded before the conformance suite, which knows no tokens: adds ours to each of its requests, whatever sends them.
import { subscribe } from "node:diagnostics_channel";
import process from "node:process";

const value = `Bearer ${process.env.KAGED_MCP_TOKEN}`;
subscribe("undici:request:create", ({ request }) => request.addHeader("authorization", value));
subscribe("http.client.request.created", ({ request }) => request.setHeader("authorization", value));
