// The token comes once, behind the # that browsers do not send, and is taken out of sight at once.
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem("kaged-token", given);
  history.replaceState(null, "", location.pathname);
}

const state = document.getElementById("state");
const list = document.getElementById("plugins");
const headers = { Authorization: `Bearer ${sessionStorage.getItem("kaged-token") ?? ""}` };
const response = await fetch("/api/v1/plugins", { headers });
const answer = await response.json();
if (response.ok) {
  state.textContent = `${answer.plugins.length} plugins`;
  for (const { instance, version, state } of answer.plugins) {
    const item = document.createElement("li");
    item.textContent = `${instance} ${version}: ${state}`;
    list.append(item);
  }
} else state.textContent = `${answer.detail}. ${answer.hint ?? ""}`;
