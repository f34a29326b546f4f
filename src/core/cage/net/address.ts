/**
 * IP addresses: which of them lie on the public internet.
 *
 * @module
 */

/** Ranges of IPv4 that are not public: the first bytes as one number, and how many bits of it count. */
const CLOSED_IPV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8], // Unspecified: Linux takes it for loopback.
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // Carrier-grade NAT.
  ["127.0.0.0", 8],
  ["169.254.0.0", 16], // Link-local: clouds serve credentials there.
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24], // 6to4 relays.
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3], // Multicast, reserved, broadcast.
];

/** Ranges within 2000::/3 that are not public; nothing outside of 2000::/3 is. */
const CLOSED_IPV6: readonly (readonly [string, number])[] = [
  ["2001::", 23], // Teredo, ORCHID and other protocol assignments.
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4: an IPv4 address in disguise.
  ["3fff::", 20],
];

/** Returns the 4 or 16 bytes of an address, without brackets; an IPv4-mapped one as its 4. Null when it is none. */
export function addressBytes(text: string): Uint8Array | null {
  if (!text.includes(":")) return ipv4Bytes(text);
  const zoneless = text.split("%", 1)[0] ?? "";
  const host = URL.parse(`http://[${zoneless}]/`)?.hostname;
  if (host === undefined) return null;
  const [head = "", tail] = host.slice(1, -1).split("::");
  const groups = (part: string | undefined): number[] =>
    part ? part.split(":").map((group) => parseInt(group, 16)) : [];
  const [front, back] = [groups(head), groups(tail)];
  const whole = [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
  const bytes = Uint8Array.from(whole.flatMap((group) => [group >> 8, group & 255]));
  const isMapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  return isMapped ? bytes.slice(12) : bytes;
}

/** Whether an address is one of the public internet: not this machine, not its networks, not a tunnel to them. */
export function isPublic(address: string): boolean {
  const bytes = addressBytes(address);
  if (bytes === null) return false;
  if (bytes.length === 4) return !CLOSED_IPV4.some((range) => isIn(bytes, range));
  return isIn(bytes, ["2000::", 3]) && !CLOSED_IPV6.some((range) => isIn(bytes, range));
}

/** Whether an address can be that of one other machine: neither unspecified, nor multicast, nor broadcast. */
export function isUnicast(address: string): boolean {
  const bytes = addressBytes(address);
  if (bytes === null) return false;
  if (bytes.length === 4) return !isIn(bytes, ["0.0.0.0", 8]) && !isIn(bytes, ["224.0.0.0", 3]);
  return bytes[0] !== 0xff && bytes.some((byte) => byte !== 0);
}

function ipv4Bytes(text: string): Uint8Array | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) < 256)) {
    return null;
  }
  return Uint8Array.from(parts.map(Number));
}

function isIn(bytes: Uint8Array, [network, bits]: readonly [string, number]): boolean {
  const start = addressBytes(network);
  if (start === null || start.length !== bytes.length) return false;
  for (let bit = 0; bit < bits; bit += 8) {
    const mask = bits - bit >= 8 ? 0xff : 0xff << (8 - (bits - bit)) & 0xff;
    if (((start[bit / 8] ?? 0) & mask) !== ((bytes[bit / 8] ?? 0) & mask)) return false;
  }
  return true;
}
