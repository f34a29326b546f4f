// The same plugin for hosts that frame each message with a Content-Length header.
import { Buffer } from "node:buffer";
import process from "node:process";

const EXACT_BYTES = 4_194_304;
const small = '{"status":"ok","items":[1,2,3],"note":"the quick brown fox"}';
const mebibyte = JSON.stringify({ text: "x".repeat(1024 * 1024 - 12) });

function body(message) {
  const at = message.indexOf('"id":');
  const id = Number.parseInt(message.slice(at + 5, at + 21), 10);
  if (message.includes('"bench.exact"')) {
    const [head, tail] = [`{"jsonrpc":"2.0","id":${id},"result":{"text":"`, '"}}'];
    return head + "x".repeat(EXACT_BYTES - head.length - tail.length) + tail;
  }
  return `{"jsonrpc":"2.0","id":${id},"result":${message.includes('"bench.mebibyte"') ? mebibyte : small}}`;
}

let pending = "";
process.stdin.on("data", (chunk) => {
  pending += chunk.toString("latin1");
  let at = 0;
  let out = "";
  for (;;) {
    const headEnd = pending.indexOf("\r\n\r\n", at);
    if (headEnd === -1) break;
    const length = Number.parseInt(pending.slice(pending.indexOf(":", at) + 1, headEnd), 10);
    const end = headEnd + 4 + length;
    if (end > pending.length) break;
    const answer = body(pending.slice(headEnd + 4, end));
    out += `Content-Length: ${answer.length}\r\n\r\n${answer}`;
    at = end;
  }
  pending = pending.slice(at);
  if (out !== "") process.stdout.write(Buffer.from(out, "latin1"));
});
process.stdin.on("end", () => process.exit(0));
