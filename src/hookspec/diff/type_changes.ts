/**
 * Compares the types of payloads of two versions of a kind.
 *
 * @module
 */
import { boundsInWords } from "../emit/text.ts";
import type { NamedType, RecordShape, SpecField, SpecType } from "../types.ts";
import type { ChangeEffect, SpecChange } from "./spec_change.ts";

type Shape = RecordShape | SpecType;

/** Compares types of two versions of a kind. A pair of types that many hooks share is compared once. */
export class TypeComparison {
  readonly changes: SpecChange[] = [];
  readonly #old: ReadonlyMap<string, NamedType>;
  readonly #new: ReadonlyMap<string, NamedType>;
  readonly #seen = new Set<string>();

  /** Compares types among these. */
  constructor(oldTypes: readonly NamedType[], newTypes: readonly NamedType[]) {
    this.#old = byName(oldTypes);
    this.#new = byName(newTypes);
  }

  /** Compares two types by their names. */
  compareNamed(oldName: string, newName: string, path: string): void {
    const pair = `${oldName} ${newName}`;
    if (this.#seen.has(pair)) return;
    this.#seen.add(pair);
    const [old, now] = [this.#old.get(oldName)!, this.#new.get(newName)!];
    // On the wire a name is nothing, in generated code it is.
    if (oldName !== newName) this.#add(path, "compatible", `its type is called ${newName}, was ${oldName}`);
    if (old.description !== now.description) this.#add(path, "wording", `type ${newName} has another description`);
    this.#compareShapes(old.shape, now.shape, path);
  }

  #compareShapes(old: Shape, now: Shape, path: string): void {
    if (old.type === "record" && now.type === "record") this.#compareRecords(old, now, path);
    else if (old.type === "record" || now.type === "record") {
      this.#add(path, "breaking", `is ${shapeInWords(now)}, was ${shapeInWords(old)}`);
    } else this.#compareTypes(old, now, path);
  }

  #compareTypes(old: SpecType, now: SpecType, path: string): void {
    if (old.type === "named" && now.type === "named") return this.compareNamed(old.name, now.name, path);
    if (old.type === "named") return this.#compareShapes(this.#old.get(old.name)!.shape, now, path);
    if (now.type === "named") return this.#compareShapes(old, this.#new.get(now.name)!.shape, path);
    if (old.type === "union" && now.type === "union") return this.#compareUnions(old.options, now.options, path);
    if (wordsOf(old) !== wordsOf(now)) this.#add(path, "breaking", `is ${wordsOf(now)}, was ${wordsOf(old)}`);
    else if (old.type === "list" && now.type === "list") this.#compareTypes(old.items, now.items, `${path}[]`);
    else if (old.type === "map" && now.type === "map") this.#compareTypes(old.values, now.values, `${path}.*`);
  }

  #compareRecords(old: RecordShape, now: RecordShape, path: string): void {
    const fields = new Map(now.fields.map((field) => [field.name, field]));
    for (const field of old.fields) {
      const match = fields.get(field.name);
      if (match) this.#compareFields(field, match, `${path}.${field.name}`);
      else this.#add(`${path}.${field.name}`, "breaking", "is gone");
    }
    const known = new Set(old.fields.map(({ name }) => name));
    for (const { name, isRequired } of now.fields) {
      if (known.has(name)) continue;
      if (isRequired) this.#add(`${path}.${name}`, "breaking", "is new and required");
      else if (old.isOpen) this.#add(`${path}.${name}`, "compatible", "is new and optional");
      else this.#add(`${path}.${name}`, "breaking", "is new, where no other fields were taken");
    }
    if (old.isOpen !== now.isOpen) this.#add(path, "breaking", `takes ${now.isOpen ? "" : "no "}other fields now`);
  }

  #compareFields(old: SpecField, now: SpecField, path: string): void {
    if (old.isRequired !== now.isRequired) {
      this.#add(path, "breaking", now.isRequired ? "is required, was optional" : "is optional, was required");
    }
    if (old.description !== now.description) this.#add(path, "wording", "has another description");
    const [before, after] = [old.default, now.default].map((value) => JSON.stringify(value));
    // Old and new programs would read an absent field differently, unless nothing was said of it before.
    if (before === undefined && after !== undefined) this.#add(path, "compatible", `has the default ${after}`);
    else if (before !== after) this.#add(path, "breaking", `its default is ${after ?? "none"}, was ${before}`);
    this.#compareTypes(old.type, now.type, path);
  }

  #compareUnions(old: readonly SpecType[], now: readonly SpecType[], path: string): void {
    for (const option of old) {
      const match = now.find((other) => wordsOf(other) === wordsOf(option));
      if (match) this.#compareTypes(option, match, path);
      else this.#add(path, "breaking", `may no longer be ${wordsOf(option)}`);
    }
    for (const option of now) {
      if (old.some((other) => wordsOf(other) === wordsOf(option))) continue;
      this.#add(path, "breaking", `may also be ${wordsOf(option)}`);
    }
  }

  #add(path: string, effect: ChangeEffect, message: string): void {
    this.changes.push({ path, effect, message });
  }
}

function byName(types: readonly NamedType[]): Map<string, NamedType> {
  return new Map(types.map((type) => [type.name, type]));
}

function shapeInWords(shape: Shape): string {
  return shape.type === "record" ? "an object with known fields" : wordsOf(shape);
}

/** A type in words, as far as it is not made of other types. */
function wordsOf(type: SpecType): string {
  const format = "format" in type && type.format !== undefined ? `format ${type.format}` : "";
  const bounds = [boundsInWords(type), format].filter((word) => word !== "").join("; ");
  const words = type.type === "named" ? type.name : type.type === "string" && type.values
    // The order of choices means nothing: they are compared, and shown, by name.
    ? type.values.toSorted().map((value) => JSON.stringify(value)).join(" or ")
    : { any: "anything", union: "one of several types" }[type.type as string] ?? type.type;
  return bounds === "" ? words : `${words} (${bounds})`;
}
