/**
 * Hosts as network grants name them: one spelling for each, and none that two programs could read differently.
 *
 * @module
 */

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
// A last label that is a number makes a URL parser read the whole as IPv4: 127.1, 0x7f000001, 017700000001.
const NUMERIC_LABEL = /^(?:[0-9]+|0x[0-9a-f]*)$/;
const OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const DOTTED_QUAD = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const BRACKETED = /^\[[0-9a-f:.]+\]$/;
const MAPPED_IPV4 = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

/**
 * Returns the canonical spelling of a host: a lowercase name of LDH labels without its final dot, a dotted quad, or
 * an IPv6 address in brackets (RFC 5952, an IPv4-mapped one as its dotted quad). Returns null for anything else:
 * short, octal or hexadecimal IPv4, zones, user info, ports, wildcards, other alphabets.
 */
export function canonicalHost(text: string): string | null {
  if (text.length > 254 || /[^\x21-\x7e]/.test(text)) return null;
  const host = text.toLowerCase();
  if (host.startsWith("[")) return canonicalIpv6(host);
  if (DOTTED_QUAD.test(host)) return host;
  const name = host.endsWith(".") ? host.slice(0, -1) : host;
  const labels = name.split(".");
  if (name.length > 253 || !labels.every((label) => LABEL.test(label))) return null;
  return NUMERIC_LABEL.test(labels.at(-1)!) ? null : name;
}

function canonicalIpv6(host: string): string | null {
  if (!BRACKETED.test(host)) return null;
  const compressed = URL.parse(`http://${host}/`)?.hostname;
  if (compressed === undefined) return null;
  const mapped = MAPPED_IPV4.exec(compressed);
  if (!mapped) return compressed;
  const [high, low] = [parseInt(mapped[1]!, 16), parseInt(mapped[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
