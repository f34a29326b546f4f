/**
 * The authorization server and protected MCP server of `tests/fixtures/remote`, and a person who agrees to a login.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { once } from "node:events";

const NODE = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));
const PROGRAM = fileURLToPath(new URL("../fixtures/remote/protected_server.ts", import.meta.url));

/** The servers, while a test runs. */
export interface ProtectedServer {
  readonly issuer: string;
  readonly url: string;
  /** Ends the token that was used last. */
  expire(): Promise<unknown>;
  /** Ends the whole login. */
  revoke(): Promise<unknown>;
  /** Sets the scope that calls need. */
  need(scope: string): Promise<unknown>;
  /** Requests for tokens that the authorization server has had. */
  asked(): Promise<number>;
}

/** Starts the servers; they end with the test. They run on Node on every runtime: what is tested is the host. */
export async function protectedServer(t: { after(run: () => Promise<void>): void }): Promise<ProtectedServer> {
  const child = spawn(NODE, ["--disable-warning=ExperimentalWarning", PROGRAM], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: "/usr/bin:/bin", NODE_ENV: "test" },
  });
  const gone = once(child, "exit");
  t.after(async () => {
    child.stdin.end();
    child.kill("SIGKILL");
    await gone;
  });
  const lines = createInterface({ input: child.stdout });
  let found: { issuer: string; url: string } | null = null;
  for await (const line of lines) {
    if (!line.startsWith("{")) continue;
    found = JSON.parse(line);
    break;
  }
  const { issuer, url } = found!;
  const order = async (path: string, body = ""): Promise<number> => {
    return Number(await (await fetch(new URL(path, url), { method: "POST", body })).text());
  };
  return {
    issuer,
    url,
    asked: () => order("/test/asked"),
    expire: () => order("/test/expire"),
    revoke: () => order("/test/revoke"),
    need: (scope) => order("/test/need", scope),
  };
}

/** Changes the address that the browser is sent back to. */
export type Tamper = (callback: URL) => void;

/** Agrees to a login as a person with a browser would: each page's form is sent, each redirect followed. */
export async function agree(address: string, tamper: Tamper = () => {}): Promise<number> {
  const cookies = new Map<string, string>();
  let url = new URL(address);
  let form: URLSearchParams | null = null;
  for (let step = 0; step < 20; step++) {
    if (url.pathname === "/callback") tamper(url);
    const response: Response = await fetch(url, {
      redirect: "manual",
      method: form ? "POST" : "GET",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form && { body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const page = await response.text();
    const location = response.headers.get("location");
    if (url.pathname === "/callback") return response.status;
    form = null;
    if (location !== null) {
      url = new URL(location, url);
      continue;
    }
    const prompt = /name="prompt" value="([a-z]+)"/.exec(page)?.[1];
    const action = /action="([^"]+)"/.exec(page)?.[1];
    if (prompt === undefined || action === undefined) {
      throw new Error(`No form in: ${response.status} ${page.slice(0, 500)}`);
    }
    url = new URL(action, url);
    form = new URLSearchParams({ prompt, ...(prompt === "login" && { login: "ada", password: "any" }) });
  }
  throw new Error("The login goes round in circles");
}
