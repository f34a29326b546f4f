/**
 * Holds a knob's new value against this machine: a path that must exist, a model that the operator has.
 *
 * @module
 */
import { configFiles } from "../core/cage/wanted_paths.ts";
import { HostError } from "../core/errors/host_error.ts";
import type { Knob } from "../core/manifest/manifest.ts";
import type { Files } from "../core/ports/ports.ts";
import { didYouMean } from "../core/values/nearest_word.ts";
import { isMap } from "../core/values/plain_data.ts";
import { shown } from "../core/values/shown_value.ts";

/** The machine that a value must fit. */
export interface KnobPlaces {
  /** Folder of the project, absolute. */
  readonly dir: string;
  /** Folder of the operator's settings. */
  readonly home: string;
  /** `[models]` of `local.toml`: alias → model. */
  readonly models: ReadonlyMap<string, unknown>;
  readonly files: Files;
}

/** Throws `knob.value_invalid` for a missing path where there must be one, and for a model the operator has not. */
export async function checkKnob(name: string, knob: Knob, value: unknown, places: KnobPlaces): Promise<void> {
  if (typeof value !== "string") return; // The knob's own bounds are checked elsewhere.
  if (knob.type === "path" && knob.must_exist) await checkPath(name, value, places);
  if (knob.type === "model_alias") checkModel(name, knob, value, places.models);
}

async function checkPath(name: string, value: string, { dir, home, files }: KnobPlaces): Promise<void> {
  const [prefix, path = ""] = value.split(/:(.*)/s);
  const place = `${prefix === "config" ? configFiles(home) : dir}${path}`;
  if (await files.target(place) !== null) return;
  throw invalid(name, `There is nothing at ${shown(value)}`, `Make ${place} first, or name a path that exists`);
}

/** Without `[models]` nobody knows the operator's models: any alias may be one. */
function checkModel(name: string, { filter = "any" }: Knob, value: string, models: ReadonlyMap<string, unknown>): void {
  if (models.size === 0) return;
  const fitting = [...models].filter(([, model]) => filter === "any" || isFor(filter, model)).map(([alias]) => alias);
  if (fitting.includes(value)) return;
  const reason = models.has(value)
    ? `Model ${shown(value)} is not for ${filter}`
    : `No model is called ${shown(value)}`;
  const hint = fitting.length === 0
    ? `Add a model for ${filter} to [models] in local.toml`
    : didYouMean(value, fitting, `Models in local.toml: ${fitting.join(", ")}`);
  throw invalid(name, reason, hint);
}

/** A model that says nothing of its use is for any. */
function isFor(use: string, model: unknown): boolean {
  const uses = isMap(model) ? model["for"] : undefined;
  return uses === undefined || [uses].flat().includes(use);
}

function invalid(knob: string, reason: string, hint: string): HostError {
  return new HostError("knob.value_invalid", `Knob "${knob}" does not take this value: ${reason}`, {
    data: { knob, reason },
    hint,
  });
}
