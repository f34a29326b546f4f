"""A list of tasks per project, in the plugin's own tables: tools for the model, a reminder for each new session."""

from datetime import date

from kaged_sdk import Plugin, PluginError

# One handler at a time: what reads a row and then writes it is not disturbed in between.
plugin = Plugin(
    "tasks",
    "0.1.0",
    notifications=["tasks.finished"],
    capabilities_used=["kaged:storage:write"],
    max_threads=1,
)

TABLE = """
    CREATE TABLE IF NOT EXISTS tasks (
        id INTEGER PRIMARY KEY, project TEXT NOT NULL, title TEXT NOT NULL, due TEXT, finished INTEGER NOT NULL DEFAULT 0
    )
"""
INSERT = "INSERT INTO tasks (project, title, due) VALUES (?, ?, ?) RETURNING id"
OPEN_TASKS = "SELECT id, title, due FROM tasks WHERE project = ? AND finished = 0 ORDER BY due IS NULL, due, id"
ALL_TASKS = "SELECT id, title, due, finished FROM tasks WHERE project = ? ORDER BY finished, due IS NULL, due, id"


@plugin.on_config_update
def take_config(config):
    limit = config.get("max_injected", 5)
    if not isinstance(limit, int) or not 0 <= limit <= 50:
        raise ValueError(f"max_injected is {limit!r}: it takes a whole number from 0 to 50")
    # The host answers storage after the handshake: asked now, not waited for.
    plugin.storage.later.exec(TABLE)


@plugin.tool
def add(params, context):
    due = checked_date(params.get("due"))
    added = plugin.storage.exec(INSERT, [project_of(context), params["title"], due])
    return {"id": added["rows"][0]["id"]}


@plugin.tool
def done(params, context):
    update = "UPDATE tasks SET finished = 1 WHERE id = ? AND project = ? AND finished = 0 RETURNING title"
    changed = plugin.storage.exec(update, [params["id"], project_of(context)])
    if not changed["rows"]:
        raise PluginError(f"No open task has the number {params['id']}", data={"id": params["id"]})
    title = changed["rows"][0]["title"]
    plugin.notify("tasks.finished", {"id": params["id"], "title": title})
    return {"finished": title}


@plugin.tool("list")
def list_tasks(params, context):
    return {"tasks": plugin.storage.query(ALL_TASKS if params.get("all") else OPEN_TASKS, [project_of(context)])["rows"]}


@plugin.method("tasks.import")
def import_tasks(params, context):
    titles = params.get("titles")
    if not isinstance(titles, list) or not all(isinstance(title, str) and title for title in titles):
        raise PluginError("titles is no list of texts", -32602, {"field": "titles"})
    for number, title in enumerate(titles, 1):
        context.check()  # The host may have stopped waiting.
        plugin.storage.exec(INSERT, [project_of(context), title, None])
        context.progress(number, len(titles))
    return {"added": len(titles)}


@plugin.hook
def on_session_start(params, context):
    tasks = plugin.storage.query(OPEN_TASKS, [project_of(context)])["rows"]
    shown = tasks[:context.config.get("max_injected", 5)]
    if not shown:
        return None
    lines = [f"- {task['id']}: {task['title']}" + (f" (due {task['due']})" if task["due"] else "") for task in shown]
    more = [f"- and {len(tasks) - len(shown)} more"] if len(tasks) > len(shown) else []
    return {"inject": "\n".join(["Open tasks:", *lines, *more])}


@plugin.hook
def session_end(params, context):
    plugin.log.info("Session ended", session=context.session_id)


def project_of(context):
    return context.project_id or ""


def checked_date(text):
    if text is None:
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise PluginError(f'"{text}" is no date like 2030-01-31', -32602, {"field": "due"}) from None


plugin.start()
