/**
 * The capabilities that a plugin asks for, each with a box to tick.
 *
 * @module
 */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { CapabilityDescription } from "../../src/packages/consent/describe_capability.ts";
import type { ConsentOffer } from "../../src/packages/install/consent_types.ts";
import { bytes } from "../model/words.ts";
import { grantDraft } from "../model/grant_draft.ts";
import { Action, type Doing } from "./action.tsx";
import { CapabilityText, SecretList } from "./capabilities.tsx";

/** An offer. Once every box is ticked it can be approved; until then, started without the rest. */
export function GrantForm({ offer, doing, approve, children }: {
  offer: ConsentOffer;
  doing: Doing;
  approve: (json: unknown) => () => Promise<void>;
  children: ComponentChildren;
}): JSX.Element {
  const { version, description, author, license, homepage, installed, added, removed, hash, capabilities } = offer;
  const [granted, setGranted] = useState<readonly string[]>([]);
  const { open, canWithhold, answer } = grantDraft(offer, granted);
  const left = open.length;
  const fresh = capabilities.filter(({ capability }) => added.includes(capability));
  const rest = capabilities.filter(({ capability }) => !added.includes(capability));
  const isUpgrade = installed !== null && installed !== version;
  const about = [author && `by ${author}`, license, homepage, bytes(offer.bytes)].filter(Boolean).join(" · ");
  const toggle = (capability: string): void =>
    setGranted((old) => old.includes(capability) ? old.filter((one) => one !== capability) : [...old, capability]);
  return (
    <form
      class="grant"
      onSubmit={(event) => {
        event.preventDefault();
        if (left === 0) void doing.run(approve(answer));
      }}
    >
      <p class="lead">{description}</p>
      <p class="quiet">
        {isUpgrade ? `Version ${installed} → ${version}` : `Version ${version}`}
        {" · "}
        {about}
      </p>
      <Contributed of={offer} />
      {isUpgrade && <p>Every project that has this plugin gets this version when you approve.</p>}
      <fieldset>
        <legend>{installed === null ? "It asks for" : "It asks for, newly here"}</legend>
        {fresh.length === 0 && <p class="quiet">Nothing: no files, no network, no tables.</p>}
        {fresh.map((one) => (
          <Acknowledge key={one.capability} of={one} isOn={granted.includes(one.capability)} onToggle={toggle} />
        ))}
      </fieldset>
      {offer.withheld.length > 0 && (
        <fieldset>
          <legend>You withheld; it stays so unless you tick it</legend>
          {offer.withheld.map((one) => (
            <Acknowledge key={one.capability} of={one} isOn={granted.includes(one.capability)} onToggle={toggle} />
          ))}
        </fieldset>
      )}
      {offer.secrets.length > 0 && <p class="quiet">It asks you for these values:</p>}
      <SecretList of={offer.secrets} />
      {rest.length > 0 && installed !== null && <p class="quiet">Granted before:</p>}
      {rest.length > 0 && (
        <ul class="diff" aria-label={installed === null ? "Nothing to grant" : "Granted before"}>
          {rest.map((one) => (
            <li key={one.capability} class="same">
              <CapabilityText of={one} />
            </li>
          ))}
        </ul>
      )}
      {removed.length > 0 && (
        <ul class="diff" aria-label="No longer asked for">
          {removed.map((one) => (
            <li key={one} class="removed">
              No longer asks for <code>{one}</code>
            </li>
          ))}
        </ul>
      )}
      <p class="quiet hash">
        Your approval is for these files: <code>{hash.slice(0, 23)}…</code>
      </p>
      <div class="bar">
        <button type="submit" class="primary" disabled={left > 0 || doing.isBusy}>
          {doing.isBusy ? "Installing …" : "Approve and start"}
        </button>
        {canWithhold && (
          <Action doing={doing} act={approve(answer)}>
            {left === 1 ? "Start without the unticked one" : `Start without the ${left} unticked`}
          </Action>
        )}
        {children}
        <span class="quiet" role="status">{left > 0 ? `${left} left to acknowledge` : ""}</span>
      </div>
    </form>
  );
}

/** The plugin's roles, hooks and tools: they need no grant, and reach into the agent's work all the same. */
function Contributed({ of: { source, roles, hooks, tools, protocol, server } }: { of: ConsentOffer }): JSX.Element {
  const named = protocol !== "kaged_stdio" ? ["an MCP server lists them when it runs"] : tools.map(({ name }) => name);
  const elsewhere = server === undefined ? [] : [`talks to ${server}; nothing of it runs on this machine`];
  const rows = Object.entries({ Files: [source], Server: elsewhere, Roles: roles, Hooks: hooks, Tools: named });
  return (
    <dl class="facts">
      {rows.filter(([, names]) => names.length > 0).map(([name, names]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="mono">{names.join(", ")}</dd>
        </div>
      ))}
    </dl>
  );
}

function Acknowledge({ of, isOn, onToggle }: {
  of: CapabilityDescription;
  isOn: boolean;
  onToggle: (capability: string) => void;
}): JSX.Element {
  return (
    <label class={`acknowledge ${of.danger ? "is-danger" : ""}`}>
      <input type="checkbox" checked={isOn} onChange={() => onToggle(of.capability)} />
      <CapabilityText of={of} />
    </label>
  );
}
