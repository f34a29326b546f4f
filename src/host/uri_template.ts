/**
 * Whether a URI can come of a URI template (RFC 6570). Templates are written by servers that nobody trusts, so a match
 * takes at most as many steps as the template's length times that of the URI.
 *
 * @module
 */

/** One part of a template: fixed text, or an expression. */
type Part =
  | { readonly text: string }
  /** `lead` begins the expansion; where it is there, the whole expression may be missing. */
  | { readonly lead: string; readonly isAllowed: (char: string) => boolean };

/** Most expressions of one template; a longer one matches nothing. */
const MAX_EXPRESSIONS = 64;

const within = (stops: string) => (char: string): boolean => !stops.includes(char);
/** Characters that an expansion has, by its operator (RFC 6570, section 3.2); servers expand some without encoding. */
const OPERATORS: Readonly<Record<string, Exclude<Part, { text: string }>>> = {
  "": { lead: "", isAllowed: within("/?#") },
  "+": { lead: "", isAllowed: () => true },
  "#": { lead: "#", isAllowed: () => true },
  ".": { lead: ".", isAllowed: within("/?#") },
  "/": { lead: "/", isAllowed: within("?#") },
  ";": { lead: ";", isAllowed: within("/?#") },
  "?": { lead: "?", isAllowed: within("#") },
  "&": { lead: "&", isAllowed: within("#") },
};

/** A template that was read. */
export interface TemplateMatcher {
  /** The text that every expansion begins with. */
  readonly start: string;
  /** A match takes at most so many steps for each character of the URI. */
  readonly cost: number;
  /** Whether a URI can be an expansion of it. */
  matches(uri: string): boolean;
}

/** Reads a template; null when it is none, or has more than 64 expressions. */
export function templateMatcher(template: string): TemplateMatcher | null {
  const parts = partsOf(template);
  if (parts === null) return null;
  return {
    start: template.split("{", 1)[0]!,
    cost: template.length,
    matches(uri) {
      // The places of the URI that the parts so far can end at.
      let ends: ReadonlySet<number> = new Set([0]);
      for (const part of parts) {
        ends = "text" in part ? afterText(part.text, uri, ends) : afterExpression(part, uri, ends);
        if (ends.size === 0) return false;
      }
      return ends.has(uri.length);
    },
  };
}

function partsOf(template: string): Part[] | null {
  const pieces = template.split(/(\{[^{}]*\})/u);
  if (pieces.length > 2 * MAX_EXPRESSIONS + 1) return null;
  const parts: Part[] = [];
  for (const piece of pieces) {
    if (piece === "") continue;
    if (!piece.startsWith("{")) {
      if (/[{}]/u.test(piece)) return null;
      parts.push({ text: piece });
      continue;
    }
    const operator = /^\{([+#./;?&]?)[A-Za-z0-9_.%,:*]+\}$/u.exec(piece)?.[1];
    if (operator === undefined) return null;
    parts.push(OPERATORS[operator]!);
  }
  return parts;
}

function afterText(text: string, uri: string, starts: ReadonlySet<number>): Set<number> {
  const ends = [...starts].filter((at) => uri.startsWith(text, at)).map((at) => at + text.length);
  return new Set(ends);
}

function afterExpression(
  { lead, isAllowed }: Exclude<Part, { text: string }>,
  uri: string,
  starts: ReadonlySet<number>,
): Set<number> {
  const ends = new Set(lead === "" ? [] : starts);
  let isOpen = false;
  for (let at = 0; at < uri.length; at++) {
    // A start within an expansion that is open already adds no other ends.
    isOpen = (isOpen && isAllowed(uri[at]!)) ||
      (starts.has(at) && (lead === "" ? isAllowed(uri[at]!) : uri[at] === lead));
    if (isOpen) ends.add(at + 1);
  }
  return ends;
}
