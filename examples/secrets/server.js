// A server with tickets that only the holder of a token may see, over TLS. It stands for any service on the internet.
// Usage: node server.js <key.pem> <certificate.pem> <token> [port]
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import process from "node:process";

const [key, certificate, token, port = "8443"] = process.argv.slice(2);
const tickets = ["The door squeaks", "The lamp flickers"];

const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, response) => {
  const isHolder = request.headers.authorization === `Bearer ${token}`;
  response.writeHead(isHolder ? 200 : 401, { "Content-Type": "application/json" });
  response.end(JSON.stringify(isHolder ? { tickets } : { error: "The token is wrong" }));
});
server.listen(Number(port), "127.0.0.1", () => console.log(`Tickets at https://localhost:${server.address().port}`));
