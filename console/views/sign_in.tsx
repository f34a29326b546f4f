/**
 * Asks the operator for the token.
 *
 * @module
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { refusal, signIn } from "../model/api.ts";

export function SignInView(): JSX.Element {
  const [given, setGiven] = useState("");
  return (
    <main class="sign-in" id="main">
      <h1>kaged</h1>
      <p>
        This page shows what plugins do on this machine. It opens with the link that <code>kaged serve</code>{" "}
        prints, or with the token.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (given.trim()) signIn(given.trim());
        }}
      >
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          aria-describedby="token-help"
          value={given}
          onInput={({ currentTarget }) => setGiven(currentTarget.value)}
        />
        <p class="hint" id="token-help">
          It is in the file <code>token</code> of the operator's folder: <code>~/.local/share/kaged/token</code>
        </p>
        {refusal.value && <p class="field-error" role="alert">{refusal.value}</p>}
        <button type="submit" class="primary">Open the console</button>
      </form>
    </main>
  );
}
