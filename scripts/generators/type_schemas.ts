/**
 * JSON Schemas of TypeScript types, read with `deno doc --json`: interfaces stay the one place where a shape is spelled.
 * A type that JSON Schema cannot express is an error, never a schema that allows anything.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A JSON Schema. */
export type Json = Record<string, unknown>;

/** A type as `deno doc` writes it; `value` is what belongs to the kind. */
interface TsType {
  readonly kind: string;
  // deno-lint-ignore no-explicit-any
  readonly value: any;
}

interface Members {
  readonly extends?: readonly TsType[];
  readonly properties?: readonly Property[];
  readonly methods?: readonly { readonly name: string }[];
  readonly indexSignatures?: readonly { readonly tsType: TsType }[];
}

interface Property {
  readonly name: string;
  readonly optional?: boolean;
  readonly jsDoc?: { readonly doc?: string };
  readonly tsType: TsType;
}

interface Declaration {
  readonly kind: string;
  readonly jsDoc?: { readonly doc?: string };
  readonly def: Members & { readonly tsType: TsType };
}

/** A type and the module that it is written in, from which its imports are resolved. */
interface Placed {
  readonly type: TsType;
  readonly file: string;
}

interface Member extends Omit<Property, "tsType">, Placed {}

const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));
const DENO = `${ROOT}node_modules/.bin/deno`;

/** Makes schemas of types; each named interface becomes one of {@link schemas}, and is referred to. */
export class TypeSchemas {
  readonly schemas: Json = {};
  readonly #files = new Map<string, ReadonlyMap<string, Declaration>>();
  readonly #origins = new Map<string, string>();

  /** Returns a reference to the schema of an interface; `path` is relative to the repository. */
  reference(name: string, path: string): Json {
    return this.#named(name, pathToFileURL(ROOT + path).href);
  }

  /** Returns the schema of each property of an interface. */
  properties(name: string, path: string): Map<string, Json> {
    const file = pathToFileURL(ROOT + path).href;
    const { members } = this.#membersIn(this.#declaration(name, file).def, file);
    return new Map([...members.values()].map((member) => [member.name, this.#schema(member)]));
  }

  #schema({ type: { kind, value }, file }: Placed): Json {
    const at = (type: TsType): Placed => ({ type, file });
    switch (kind) {
      case "keyword":
        if (value === "unknown") return {};
        if (["string", "number", "boolean", "null"].includes(value)) return { type: value };
        break;
      case "literal":
        return { const: value[value.kind] };
      case "array":
        return { type: "array", items: this.#schema(at(value)) };
      case "parenthesized":
        return this.#schema(at(value));
      case "typeOperator":
        if (value.operator === "readonly") return this.#schema(at(value.tsType));
        break;
      case "union":
        return this.#union(value.map((one: TsType) => this.#schema(at(one))));
      case "indexedAccess":
        return this.#schema(this.#member(at(value.objType), value.indexType.value.string));
      case "typeLiteral":
      case "intersection":
        return this.#object(at({ kind, value }));
      case "typeRef":
        return this.#referred(at({ kind, value }));
    }
    throw new Error(`No JSON Schema for a type of the kind "${kind}" in ${file}: ${JSON.stringify(value)}`);
  }

  /** Literals become one `enum`, which validators and readers take in at a glance. */
  #union(all: readonly Json[]): Json {
    const literals = all.filter((one) => "const" in one).map((one) => one.const);
    const others = all.filter((one) => !("const" in one));
    const anyOf = [...(literals.length > 0 ? [{ enum: literals }] : []), ...others];
    return anyOf.length === 1 ? anyOf[0]! : { anyOf };
  }

  /** Literals without some of them. */
  #without(all: Json, some: Json): Json {
    const gone = [some.enum ?? some.const].flat();
    if (!Array.isArray(all.enum)) throw new Error(`Only literals can be excluded from: ${JSON.stringify(all)}`);
    return { enum: all.enum.filter((one) => !gone.includes(one)) };
  }

  #referred(placed: Placed): Json {
    const { type: { value }, file } = placed;
    const [first, second] = (value.typeParams ?? []) as TsType[];
    switch (value.typeName) {
      case "Readonly":
        return this.#schema({ type: first!, file });
      case "Record": {
        const values = this.#schema({ type: second!, file });
        // Said even where any value will do: generators of clients take an object that says nothing for an empty one.
        return { type: "object", additionalProperties: Object.keys(values).length > 0 ? values : true };
      }
      case "Exclude":
        return this.#without(this.#schema({ type: first!, file }), this.#schema({ type: second!, file }));
      case "Omit":
      case "Pick":
        return this.#object(placed);
    }
    const [name, source] = this.#resolved(placed);
    const { kind, def } = this.#declaration(name, source);
    return kind === "typeAlias" ? this.#schema({ type: def.tsType, file: source }) : this.#named(name, source);
  }

  #named(name: string, file: string): Json {
    const origin = this.#origins.get(name);
    if (origin !== undefined && origin !== file) throw new Error(`Two types are called ${name}: ${origin} and ${file}`);
    if (origin === undefined) {
      this.#origins.set(name, file); // Before its members: a type may contain itself.
      const { def, jsDoc } = this.#declaration(name, file);
      this.schemas[name] = { ...described(jsDoc), ...this.#objectOf(this.#membersIn(def, file)) };
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #object(placed: Placed): Json {
    return this.#objectOf(this.#membersOf(placed));
  }

  #objectOf({ members, isOpen }: MemberList): Json {
    const all = [...members.values()];
    const required = all.filter(({ optional }) => !optional).map(({ name }) => name);
    return {
      type: "object",
      properties: Object.fromEntries(
        all.map((member) => [member.name, { ...described(member.jsDoc), ...this.#schema(member) }]),
      ),
      ...(required.length > 0 && { required }),
      ...(!isOpen && { additionalProperties: false }),
    };
  }

  #member(placed: Placed, name: string): Member {
    const member = this.#membersOf(placed).members.get(name);
    if (!member) throw new Error(`No property "${name}" in ${JSON.stringify(placed.type.value)} of ${placed.file}`);
    return member;
  }

  #membersOf(placed: Placed): MemberList {
    const { type: { kind, value }, file } = placed;
    if (kind === "typeLiteral") return this.#membersIn(value, file);
    if (kind === "intersection") return this.#membersIn({ extends: value }, file);
    if (kind !== "typeRef") throw new Error(`A type of the kind "${kind}" in ${file} has no properties`);
    if (value.typeName === "Omit" || value.typeName === "Pick") {
      const [whole, keys] = value.typeParams as [TsType, TsType];
      const named = new Set((keys.kind === "union" ? keys.value as TsType[] : [keys]).map((one) => one.value.string));
      const { members, isOpen } = this.#membersOf({ type: whole, file });
      const kept = [...members].filter(([name]) => named.has(name) === (value.typeName === "Pick"));
      return { members: new Map(kept), isOpen };
    }
    if (value.typeName === "Partial") {
      const { members, isOpen } = this.#membersOf({ type: (value.typeParams as [TsType])[0], file });
      return { members: new Map([...members].map(([name, one]) => [name, { ...one, optional: true }])), isOpen };
    }
    const [name, source] = this.#resolved(placed);
    const { kind: declared, def } = this.#declaration(name, source);
    return declared === "typeAlias"
      ? this.#membersOf({ type: def.tsType, file: source })
      : this.#membersIn(def, source);
  }

  #membersIn(def: Members, file: string): MemberList {
    const bases = (def.extends ?? []).map((type) => this.#membersOf({ type, file }));
    const methods = (def.methods ?? []).map(({ name }) => ({ name, tsType: { kind: "method", value: name } }));
    const own = [...def.properties ?? [], ...methods].map(({ tsType: type, ...rest }): [string, Member] => [
      rest.name,
      { ...rest, type, file },
    ]);
    return {
      members: new Map([...bases.flatMap(({ members }) => [...members]), ...own]),
      isOpen: bases.some(({ isOpen }) => isOpen) || (def.indexSignatures ?? []).length > 0,
    };
  }

  #resolved({ type: { value }, file }: Placed): [name: string, file: string] {
    const { typeName, resolution } = value;
    if (resolution?.kind === "import") return [resolution.name, new URL(resolution.specifier, file).href];
    return [typeName, file];
  }

  #declaration(name: string, file: string): Declaration {
    let declarations = this.#files.get(file);
    if (!declarations) this.#files.set(file, declarations = declarationsIn(file));
    const found = declarations.get(name);
    if (found?.kind === "interface" || found?.kind === "typeAlias") return found;
    throw new Error(`${file} exports no interface and no type "${name}"`);
  }
}

interface MemberList {
  readonly members: ReadonlyMap<string, Member>;
  /** Whether properties beside these are allowed. */
  readonly isOpen: boolean;
}

function described(jsDoc: Property["jsDoc"]): { description?: string } {
  const text = jsDoc?.doc?.replace(/\{@link (\w+)\}/g, "`$1`").replace(/\s+/g, " ").trim();
  return text ? { description: text } : {};
}

function declarationsIn(file: string): Map<string, Declaration> {
  const text = execFileSync(DENO, ["doc", "--json", "--quiet", file], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  const { nodes } = JSON.parse(text) as {
    nodes: Record<string, { symbols: { name: string; declarations: Declaration[] }[] }>;
  };
  return new Map(nodes[file]!.symbols.map(({ name, declarations }) => [name, declarations[0]!]));
}
