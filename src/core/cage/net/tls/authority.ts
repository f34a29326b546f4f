/**
 * The certificate authority of one host process. Its cages trust it, nothing else does: its key cannot be taken out of
 * the process, and ends with it.
 *
 * @module
 */
import type { Clock, TlsIdentity } from "../../../ports/ports.ts";
import { addressBytes } from "../address.ts";
import { literalAddress } from "../judge_target.ts";
import { bits, type Der, integer, octets, oid, pem, sequence, setOf, tagged, time, TRUE, utf8 } from "./der.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** As long as any host process runs; not longer than clients let a certificate be valid. */
const VALID_MS = 397 * DAY_MS;
const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const [COMMON_NAME, SERVER_AUTH] = ["2.5.4.3", "1.3.6.1.5.5.7.3.1"];
const [SUBJECT_KEY_ID, KEY_USAGE, ALT_NAME, CONSTRAINTS, AUTHORITY_KEY_ID, EXTENDED_USAGE] = [
  ...["2.5.29.14", "2.5.29.15", "2.5.29.17", "2.5.29.19", "2.5.29.35", "2.5.29.37"],
] as const;
const [KEY_CERT_SIGN, DIGITAL_SIGNATURE] = [bits(Uint8Array.of(0x04), 2), bits(Uint8Array.of(0x80), 7)];
const [DNS_NAME, IP_ADDRESS, CONTEXT_0] = [0x82, 0x87, 0x80];

/** Signs certificates for the hosts at which the gatekeeper ends TLS. */
export interface Authority {
  /** Its own certificate, as PEM. */
  readonly certificate: string;
  /** Returns a key and a certificate for a canonical host: always the same object, so that an adapter reads it once. */
  identityFor(host: string): Promise<TlsIdentity>;
}

/** Makes an authority with keys that nobody had before. */
export async function createAuthority({ clock }: { readonly clock: Clock }): Promise<Authority> {
  const [ca, leaf] = await Promise.all([
    crypto.subtle.generateKey(ECDSA, false, ["sign", "verify"]),
    crypto.subtle.generateKey(ECDSA, true, ["sign", "verify"]),
  ]);
  const name = commonName("kaged gatekeeper");
  const [caKey, leafKey] = await Promise.all([publicKey(ca.publicKey), publicKey(leaf.publicKey)]);
  const key = pem("PRIVATE KEY", new Uint8Array(await crypto.subtle.exportKey("pkcs8", leaf.privateKey)));
  const sign = async (subject: Der, subjectKey: PublicKey, extensions: readonly Der[]): Promise<string> => {
    const notBefore = clock.now() - DAY_MS; // A cage's clock is the host's; a client may still round it.
    const toSign = sequence(
      tagged(0xa0, integer(Uint8Array.of(2))), // Version 3.
      integer(crypto.getRandomValues(new Uint8Array(16))),
      ECDSA_WITH_SHA256,
      name,
      sequence(time(notBefore), time(notBefore + VALID_MS)),
      subject,
      subjectKey.spki,
      tagged(0xa3, sequence(...extensions)),
    );
    const signature = new Uint8Array(await crypto.subtle.sign(ECDSA, ca.privateKey, toSign));
    // WebCrypto writes r and s as 32 bytes each, a certificate as two integers.
    const pair = sequence(integer(signature.subarray(0, 32)), integer(signature.subarray(32)));
    return pem("CERTIFICATE", sequence(toSign, ECDSA_WITH_SHA256, bits(pair)));
  };
  const certificate = await sign(name, caKey, [
    extension(CONSTRAINTS, sequence(TRUE, integer(Uint8Array.of(0))), { critical: true }),
    extension(KEY_USAGE, KEY_CERT_SIGN, { critical: true }),
    extension(SUBJECT_KEY_ID, octets(caKey.id)),
  ]);
  const certify = async (host: string): Promise<TlsIdentity> => ({
    key,
    certificate: await sign(commonName(host.slice(0, 64)), leafKey, [
      extension(KEY_USAGE, DIGITAL_SIGNATURE, { critical: true }),
      extension(EXTENDED_USAGE, sequence(oid(SERVER_AUTH))),
      extension(ALT_NAME, sequence(altName(host))),
      extension(SUBJECT_KEY_ID, octets(leafKey.id)),
      extension(AUTHORITY_KEY_ID, sequence(tagged(CONTEXT_0, caKey.id))),
    ]),
  });
  const identities = new Map<string, Promise<TlsIdentity>>();
  return {
    certificate,
    identityFor(host) {
      const identity = identities.get(host) ?? certify(host);
      identities.set(host, identity);
      return identity;
    },
  };
}

interface PublicKey {
  /** SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  /** The first 160 bits of its hash: any name will do, as long as both certificates use the same (RFC 7093 §2). */
  readonly id: Uint8Array;
}

async function publicKey(key: CryptoKey): Promise<PublicKey> {
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", key));
  return { spki, id: new Uint8Array(await crypto.subtle.digest("SHA-256", spki)).slice(0, 20) };
}

const commonName = (text: string): Der => sequence(setOf(sequence(oid(COMMON_NAME), utf8(text))));

const extension = (id: string, value: Der, { critical = false } = {}): Der =>
  sequence(oid(id), ...(critical ? [TRUE] : []), octets(value));

function altName(host: string): Der {
  const address = literalAddress(host);
  const bytes = address === null ? null : addressBytes(address);
  return bytes === null ? tagged(DNS_NAME, new TextEncoder().encode(host)) : tagged(IP_ADDRESS, bytes);
}
