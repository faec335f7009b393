"""The library `ollama` against Ollama's own API."""

import json

import httpx
import ollama
from pydantic import BaseModel, ValidationError
from report import equal
from scenarios import CALLS, PLAIN, THOUGHT

MODEL = "double-large"
TOOLS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("weather", "time_of")
]


class City(BaseModel):
    city: str
    people: int


class Reply:
    """A reply as the lines of it make one."""

    def __init__(self, lines):
        self.text = "".join(line.message.content or "" for line in lines)
        self.thought = "".join(line.message.thinking or "" for line in lines)
        self.calls = [call.function for line in lines for call in line.message.tool_calls or []]
        self.last = lines[-1]


def checks(report, double):
    client = ollama.Client(host=double.url)

    def ask(mark, model=MODEL, **more):
        return Reply([client.chat(model=model, messages=[{"role": "user", "content": mark}], **more)])

    def stream(mark, model=MODEL, **more):
        messages = [{"role": "user", "content": mark}]
        return Reply(list(client.chat(model=model, messages=messages, stream=True, **more)))

    for way, run in (("whole", ask), ("streamed", stream)):
        def name(what, way=way):
            return f"ollama, {way}: {what}"

        def plain(mark="<plain>", run=run):
            reply = run(mark)
            equal((reply.text, reply.last.done, reply.last.done_reason), (PLAIN, True, "stop"))
            equal(reply.last.model, MODEL)

        def usage(run=run):
            last = run("<plain>").last
            equal((last.prompt_eval_count, last.eval_count), (100, 30))

        def calls(mark, wanted, run=run):
            equal([{"name": call.name, "args": call.arguments} for call in run(mark, tools=TOOLS).calls], wanted)

        def thought(run=run):
            reply = run("<thought>", model="double-thinker", think=True)
            equal((reply.thought, reply.text), (THOUGHT, PLAIN))

        def schema(run=run):
            text = run("<schema>", format=City.model_json_schema()).text
            equal(City.model_validate_json(text), City(city="Ulm", people=126329))

        report.check(name("plain text"), plain)
        report.check(name("usage"), usage)
        report.check(name("one call"), lambda: calls("<one-call>", CALLS[:1]))
        report.check(name("two calls"), lambda: calls("<two-calls>", CALLS))
        report.check(name("a thought"), thought)
        report.check(name("refusal, which is plain text here"), lambda run=run: equal(run("<refusal>").text, "I will not."))
        report.check(name("filtered, which is nothing here"), lambda run=run: equal(run("<filtered>").text, ""))
        report.check(name("cut off"), lambda run=run: equal(run("<cut-off>").last.done_reason, "length"))
        report.check(name("a schema"), schema)
        report.check(name("an empty reply"), lambda run=run: equal(run("<empty>").text, ""))
        report.check(name("a megabyte"), lambda run=run: equal(len(run("<large>").text), 1_000_000))
        report.check(name("one byte at a time"), lambda run=run: equal(len(run("<one-byte>").calls), 2))
        report.check(name("compressed"), lambda: plain("<gzip>"))
        if way == "streamed":
            for mark in ("<crlf>", "<unknown-events>"):
                report.check(name(mark), lambda mark=mark: plain(mark))
            report.check(name("interleaved calls"), lambda: calls("<interleaved>", CALLS))

        for status in (401, 402, 403, 413, 429, 500, 502, 503, 529):
            said = lambda error, status=status: equal(error.status_code, status)
            failing = lambda status=status, run=run: run(f"<{status}>")
            report.raises(name(f"{status} is ResponseError"), ollama.ResponseError, failing, said)
        missing = lambda error: equal((error.status_code, error.error), (404, "model 'no-such-model' not found"))
        unknown = lambda run=run: run("<plain>", model="no-such-model")
        report.raises(name("an unknown model"), ollama.ResponseError, unknown, missing)
        bad = lambda error: equal(error.status_code, 400)
        toolless = lambda run=run: run("<plain>", model="double-small", tools=TOOLS)
        report.raises(name("tools, where there are none"), ollama.ResponseError, toolless, bad)
        thoughtless = lambda run=run: run("<plain>", think=True)
        report.raises(name("thinking, where there is none"), ollama.ResponseError, thoughtless, bad)
        report.check(name("a prompt that is too long is cut"), lambda run=run: run("x" * 10_000, model="double-small"))

    report.raises("ollama, streamed: an error in the stream", ollama.ResponseError, lambda: stream("<error-in-stream>"))

    def models():
        listed = client.list().models
        equal([model.model for model in listed], [f"double-{size}:latest" for size in ("large", "thinker", "small")])
        shown = client.show("double-thinker")
        equal((shown.capabilities, shown.modelinfo["double.context_length"]), (["completion", "tools", "thinking"], 1_000_000))

    report.check("ollama: the models", models)

    # Controls: what is broken must be noticed, and as what it is.
    report.raises("control, ollama: without the message", ValidationError, lambda: ask("<without-message>"))
    report.raises("control, ollama: a stream without messages", ValidationError, lambda: stream("<without-message>"))
    report.raises("control, ollama: arguments as a string", ValidationError, lambda: ask("<arguments-as-string>", tools=TOOLS))
    report.raises("control, ollama: garbage", json.JSONDecodeError, lambda: ask("<garbage>"))
    report.raises("control, ollama: a stream that is cut", httpx.RemoteProtocolError, lambda: stream("<cut>"))
