/**
 * SOCKS 5 (RFC 1928): a greeting, a request to connect. No authentication, no other command.
 *
 * @module
 */

/** Version byte: the first of every message. */
export const SOCKS_VERSION = 5;

/** The first two answer a greeting, the others a request. */
type Reply = "noAuth" | "noMethod" | "connected" | "notAllowed" | "unreachable" | "badCommand" | "badAddress";

/** Answers a request: after the code comes an address that nobody needs. */
const reply = (code: number): Uint8Array => Uint8Array.of(SOCKS_VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0);

/** The messages sent to a client. */
export const SOCKS_REPLIES: Readonly<Record<Reply, Uint8Array>> = {
  noAuth: Uint8Array.of(SOCKS_VERSION, 0),
  noMethod: Uint8Array.of(SOCKS_VERSION, 0xff), // None of the client's methods will do.
  connected: reply(0),
  notAllowed: reply(2),
  unreachable: reply(4),
  badCommand: reply(7),
  badAddress: reply(8),
};

/** A request of SOCKS 5. */
export type SocksRequest =
  | { readonly kind: "connect"; readonly host: string; readonly port: number }
  | { readonly kind: "bad"; readonly reply: Uint8Array };

/** Hands out exactly so many bytes, waiting for them. Rejects when they do not come. */
export type TakeBytes = (count: number) => Promise<Uint8Array>;

/** Reads a greeting; whether the client goes without authentication. */
export async function readGreeting(take: TakeBytes): Promise<boolean> {
  const [, count = 0] = await take(2);
  return (await take(count)).includes(0);
}

/** Reads the request that follows. */
export async function readSocksRequest(take: TakeBytes): Promise<SocksRequest> {
  const [version, command, , type] = await take(4);
  if (version !== SOCKS_VERSION) return { kind: "bad", reply: SOCKS_REPLIES.badCommand };
  const host = await readHost(type, take);
  if (host === null) return { kind: "bad", reply: SOCKS_REPLIES.badAddress };
  const [high = 0, low = 0] = await take(2);
  if (command !== 1) return { kind: "bad", reply: SOCKS_REPLIES.badCommand };
  return { kind: "connect", host, port: high << 8 | low };
}

async function readHost(type: number | undefined, take: TakeBytes): Promise<string | null> {
  switch (type) {
    case 1:
      return (await take(4)).join(".");
    case 3:
      // One character per byte: what is not ASCII is refused where hosts are read.
      return String.fromCharCode(...await take((await take(1))[0] ?? 0));
    case 4: {
      const bytes = await take(16);
      const group = (at: number): string => ((bytes[at] ?? 0) << 8 | (bytes[at + 1] ?? 0)).toString(16);
      return `[${[0, 2, 4, 6, 8, 10, 12, 14].map(group).join(":")}]`;
    }
    default:
      return null;
  }
}
