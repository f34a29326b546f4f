from kaged_sdk import Plugin

plugin = Plugin("{{name}}", "0.1.0")


@plugin.method("greetings.list")
def list_greetings(params, context):
    return {"greetings": ["Hello", "Ahoy", "Good day"]}


@plugin.tool
def greet(params, context):
    plugin.log.info("Greeting", who=params["who"])  # To stderr: stdout belongs to the protocol.
    return {"text": f"{context.config.get('greeting', 'Hello')}, {params['who']}!"}


@plugin.hook
def on_session_start(params, context):
    return {"inject": f'Greet people with "{context.config.get("greeting", "Hello")}".'}


plugin.start()
