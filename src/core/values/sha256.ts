/**
 * SHA-256 of short texts and bytes; files are hashed by their port, piece by piece.
 *
 * @module
 */

const encoder = new TextEncoder();

/** Returns the SHA-256 of bytes, or of a text in UTF-8, as 64 hexadecimal digits. */
export async function sha256(content: string | Uint8Array): Promise<string> {
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource)));
}

/** Returns bytes as hexadecimal digits, two for each. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
