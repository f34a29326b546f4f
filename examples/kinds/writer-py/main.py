"""Answers the hooks of the kind `writer`, with the SDK's one file beside it."""

from kaged_sdk import Plugin

plugin = Plugin("writer-py", "0.1.0")


@plugin.method("writer.hook.describe")
def describe(params, context):
    return {"language": "Python", "formats": ["plain"]}


@plugin.method("writer.hook.render")
def render(params, context):
    return {"text": params["text"]}


@plugin.method("writer.hook.title")
def title(params, context):
    return {"text": params["text"].split(".")[0].title()}


@plugin.method("writer.hook.polish")
def polish(params, context):
    return {"text": params["text"][:1].upper() + params["text"][1:]}


plugin.start()
