/**
 * A strict reader of small XML files, for tests of what we write.
 *
 * @module
 */

/** An element: its name, its attributes as text, its own text. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
}

const TOKEN = /<\/([\w-]+)>|<([\w-]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/y;

/** Returns all elements in the order they end. @throws {SyntaxError} When it is not well-formed. */
export function readXml(xml: string): XmlElement[] {
  const found: XmlElement[] = [];
  const open: { name: string; attributes: Record<string, string>; text: string }[] = [];
  const source = xml.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const place = TOKEN.lastIndex;
    const token = TOKEN.exec(source);
    if (token === null) throw new SyntaxError(`Not XML at ${place}: ${source.slice(place, place + 40)}`);
    const [, closed, opened, attributes = "", isEmpty, text] = token;
    if (text !== undefined) {
      if (open.length === 0) throw new SyntaxError(`Text outside of the root: ${text}`);
      open.at(-1)!.text += unescaped(text);
    } else if (opened !== undefined) {
      if (open.length === 0 && found.length > 0) throw new SyntaxError(`A second root: ${opened}`);
      const element = { name: opened, attributes: readAttributes(attributes), text: "" };
      if (isEmpty) found.push(element);
      else open.push(element);
    } else {
      const element = open.pop();
      if (element?.name !== closed) throw new SyntaxError(`</${closed}> closes <${element?.name}>`);
      found.push(element!);
    }
  }
  if (open.length > 0) throw new SyntaxError(`Not closed: ${open.map(({ name }) => name).join(", ")}`);
  return found;
}

function readAttributes(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, name, value]) =>
    [name!, unescaped(value!)] as const
  );
  const attributes = Object.fromEntries(pairs);
  if (Object.keys(attributes).length < pairs.length) throw new SyntaxError(`An attribute twice: ${text}`);
  return attributes;
}

function unescaped(text: string): string {
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x08\x0b\x0c\x0e-\x1f]/.test(text)) throw new SyntaxError("A character that XML cannot hold");
  return text.replace(/&(?:#(\d+);)?/g, (_, code) => {
    if (code === undefined) throw new SyntaxError(`A bare ampersand: ${text}`);
    return String.fromCodePoint(Number(code));
  });
}
