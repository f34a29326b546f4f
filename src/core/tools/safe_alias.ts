/**
 * Names that every client and every chat API takes, for tools and prompts: `^[a-zA-Z0-9_-]{1,64}$`.
 *
 * @module
 */

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/** Returns the safe name of `<plugin>.<name>`, as it is where no other name stands beside it. */
export function safeAlias(full: string): string {
  const plain = plainAlias(full);
  return plain.length <= MAX_LENGTH ? plain : hashedAlias(plain, full);
}

/**
 * Returns the safe name of each full name. Names that would get the same one, and long ones, end in a hash of the full
 * name; a name that needs no other letters keeps its own.
 */
export function safeAliases(names: Iterable<string>): ReadonlyMap<string, string> {
  const all = [...new Set(names)];
  const sharers = new Map<string, number>();
  for (const full of all) sharers.set(plainAlias(full), (sharers.get(plainAlias(full)) ?? 0) + 1);
  const isPlain = (full: string): boolean => {
    const plain = plainAlias(full);
    return plain.length <= MAX_LENGTH && (sharers.get(plain) === 1 || isLossless(full));
  };
  const aliases = new Map(all.filter(isPlain).map((full) => [full, plainAlias(full)]));
  const taken = new Set(aliases.values());
  for (const full of all) {
    if (aliases.has(full)) continue;
    // A plugin chooses the names of its own: one that hits the hash of another is hashed once more.
    let alias = hashedAlias(plainAlias(full), full);
    for (let round = 1; taken.has(alias); round++) alias = hashedAlias(plainAlias(full), `${full}\n${round}`);
    taken.add(alias);
    aliases.set(full, alias);
  }
  return aliases;
}

function plainAlias(full: string): string {
  return full.replace(".", "__").replace(/[^a-zA-Z0-9_-]/gu, "_");
}

function isLossless(full: string): boolean {
  return /^[a-zA-Z0-9_-]+(?:\.[a-zA-Z0-9_-]*)?$/.test(full);
}

function hashedAlias(plain: string, full: string): string {
  return `${plain.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${shortHash(full)}`;
}

/** FNV-1a of 64 bits, cut: names need no secrecy, and an alias must be there at once. */
function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(36).padStart(HASH_LENGTH, "0").slice(-HASH_LENGTH);
}
