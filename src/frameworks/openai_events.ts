/**
 * Calls of models and hand-offs of the OpenAI Agents SDK, as events of a session.
 *
 * @module
 */
import { PRIMARY } from "../core/contract/hook_names.ts";
import type { Session } from "../host/types.ts";
import { type DelegateEnded, delegation, modelCall, modelName } from "./session_events.ts";

/** A `Model` of the SDK, as far as it is called here. */
export interface WatchedModel {
  /** Answers at once. */
  getResponse(request: never): Promise<{ usage: unknown }>;
  /** Answers in parts; the last has the usage. */
  getStreamedResponse(request: never): AsyncIterable<{ type: string }>;
}

/** A `ModelProvider` of the SDK. */
export interface WatchedProvider<M> {
  /** Returns the model of a name. */
  getModel(modelName?: string): Promise<M> | M;
}

/** Whose calls of models these are. */
export interface KagedModelsOptions {
  /** Path of the agent. Default `primary`. */
  readonly agent?: string;
}

/**
 * Returns the provider for `new Runner({ modelProvider })`: each answer of its models emits `model:call`, with the tokens
 * and the time. An agent whose `model` is an object, and no name, asks no provider: give it {@link kagedModel}.
 */
export function kagedModels<M extends WatchedModel>(
  session: Session,
  provider: WatchedProvider<M>,
  options: KagedModelsOptions = {},
): WatchedProvider<M> {
  return {
    getModel: async (name) => kagedModel(session, modelName(name, "default"), await provider.getModel(name), options),
  };
}

/** Returns a model whose answers emit `model:call` under that name. */
export function kagedModel<M extends WatchedModel>(
  session: Session,
  name: string,
  model: M,
  { agent = PRIMARY }: KagedModelsOptions = {},
): M {
  const getResponse = async (request: never): Promise<{ usage: unknown }> => {
    const answered = modelCall(session, agent);
    const response = await model.getResponse(request);
    answered(name, response.usage);
    return response;
  };
  const getStreamedResponse = async function* (request: never): AsyncIterable<{ type: string }> {
    const answered = modelCall(session, agent);
    for await (const event of model.getStreamedResponse(request)) {
      if (event.type === "response_done") answered(name, usageIn(event));
      yield event;
    }
  };
  return new Proxy(model, {
    get(target, key) {
      if (key === "getResponse") return getResponse;
      if (key === "getStreamedResponse") return getStreamedResponse;
      // Classes of the SDK have private fields: their methods need the object itself.
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function usageIn(event: object): unknown {
  const { response } = event as { readonly response?: { readonly usage?: unknown } };
  return response?.usage;
}

/** A `Runner` of the SDK, as far as it is heard. */
export interface HeardRunner {
  /** Adds a listener of hand-offs: the context of the run, the agent before, the agent after. */
  on(event: "agent_handoff", listener: (context: object, from: NamedAgent, to: NamedAgent) => void): unknown;
  /** Adds a listener of the end of an agent. */
  on(event: "agent_end", listener: (context: object, agent: NamedAgent, output: string) => void): unknown;
}

/** An agent of the SDK. */
export type NamedAgent = { readonly name: string };

/**
 * Emits `delegate:start` when a run hands the conversation to another agent, and `delegate:end` when that agent has
 * answered or handed it on. The whole conversation goes over, so that `input` is empty; a run that fails after a hand-off
 * has no end.
 */
export function watchHandoffs(
  session: Session,
  runner: HeardRunner,
  agents: Readonly<Record<string, string>> = {},
): void {
  // By run: the SDK gives listeners the context of the run that they hear of.
  const open = new WeakMap<object, { readonly child: string; readonly ended: DelegateEnded }>();
  const pathOf = ({ name }: NamedAgent, other: string): string => Object.hasOwn(agents, name) ? agents[name]! : other;
  const end = (context: object, output: string): string | undefined => {
    const taken = open.get(context);
    open.delete(context);
    taken?.ended(output);
    return taken?.child;
  };
  runner.on("agent_handoff", (context, from, to) => {
    const parent = end(context, "") ?? pathOf(from, PRIMARY);
    const child = pathOf(to, to.name);
    open.set(context, { child, ended: delegation(session, { parent, child, input: "" }) });
  });
  runner.on("agent_end", (context, _, output) => void end(context, output));
}
