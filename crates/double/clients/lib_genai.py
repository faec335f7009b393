"""The library `google-genai` against generateContent."""

import base64
import json

import httpx2
from google import genai
from google.genai import errors, types
from pydantic import BaseModel, ValidationError
from report import equal
from scenarios import CALLS, PLAIN, SIGNATURE, THOUGHT

MODEL = "double-large"
PARAMETERS = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}
TOOLS = [
    types.Tool(
        function_declarations=[
            types.FunctionDeclaration(name=name, description=name, parameters=PARAMETERS) for name in ("weather", "time_of")
        ]
    )
]
BY_HAND = types.AutomaticFunctionCallingConfig(disable=True)


class City(BaseModel):
    city: str
    people: int


class Reply:
    """A reply as the chunks of it make one."""

    def __init__(self, chunks):
        self.chunks = chunks
        candidates = [candidate for chunk in chunks for candidate in chunk.candidates or []]
        self.parts = [part for c in candidates if c.content for part in c.content.parts or []]
        self.finish = [candidate.finish_reason for candidate in candidates if candidate.finish_reason]
        self.usage = chunks[-1].usage_metadata
        self.text = "".join(part.text for part in self.parts if part.text and not part.thought)
        self.thought = "".join(part.text for part in self.parts if part.text and part.thought)
        self.calls = [part.function_call for part in self.parts if part.function_call]


def checks(report, double):
    def client_with(key, version="v1beta"):
        return genai.Client(api_key=key, http_options=types.HttpOptions(base_url=double.url, api_version=version))

    # Kept: a client that nobody holds closes its connections while it is still asked.
    client, stranger = client_with(double.key), client_with("wrong")
    # What the library asks for if it is told nothing.
    stable = client_with(double.key, "v1")

    def ask(mark, model=MODEL, **config):
        config = types.GenerateContentConfig(**config) if config else None
        return Reply([client.models.generate_content(model=model, contents=mark, config=config)])

    def stream(mark, model=MODEL, **config):
        config = types.GenerateContentConfig(**config) if config else None
        return Reply(list(client.models.generate_content_stream(model=model, contents=mark, config=config)))

    for way, run in (("whole", ask), ("streamed", stream)):
        def name(what, way=way):
            return f"genai, {way}: {what}"

        def plain(mark="<plain>", run=run):
            reply = run(mark)
            equal((reply.text, reply.finish), (PLAIN, [types.FinishReason.STOP]))
            equal(reply.chunks[0].model_version, MODEL)

        def usage(run=run):
            used = run("<plain>").usage
            counts = (used.prompt_token_count, used.cached_content_token_count, used.candidates_token_count)
            equal(counts, (100, 40, 20))
            equal((used.thoughts_token_count, used.total_token_count), (10, 130))

        def calls(mark, wanted, run=run):
            got = run(mark, tools=TOOLS, automatic_function_calling=BY_HAND).calls
            equal([{"name": call.name, "args": call.args} for call in got], wanted)
            equal(len({call.id for call in got}), len(wanted))

        def thought(run=run):
            more = {"thinking_config": types.ThinkingConfig(include_thoughts=True)}
            reply = run("<thought>", model="double-thinker", **more)
            equal((reply.thought, reply.text), (THOUGHT, PLAIN))
            equal(reply.parts[-1].thought_signature, base64.b64decode(SIGNATURE))
            called = run("<thought-and-call>", model="double-thinker", tools=TOOLS, automatic_function_calling=BY_HAND)
            signed = [part.thought_signature for part in called.parts if part.function_call]
            equal(signed, [base64.b64decode(SIGNATURE)])

        def refusal(run=run):
            reply = run("<refusal>")
            equal(reply.chunks[0].prompt_feedback.block_reason, types.BlockedReason.PROHIBITED_CONTENT)
            equal(reply.parts, [])

        def schema(run=run):
            chunks = run("<schema>", response_mime_type="application/json", response_schema=City)
            equal(City.model_validate_json(chunks.text), City(city="Ulm", people=126329))

        report.check(name("plain text"), plain)
        report.check(name("usage, cached tokens"), usage)
        report.check(name("one call"), lambda: calls("<one-call>", CALLS[:1]))
        report.check(name("two calls"), lambda: calls("<two-calls>", CALLS))
        report.check(name("a thought with its signature"), thought)
        report.check(name("refusal"), refusal)
        report.check(name("filtered"), lambda run=run: equal(run("<filtered>").finish, [types.FinishReason.SAFETY]))
        report.check(name("cut off"), lambda run=run: equal(run("<cut-off>").finish, [types.FinishReason.MAX_TOKENS]))
        report.check(name("a schema"), schema)
        report.check(name("an empty reply"), lambda run=run: equal(run("<empty>").parts, []))
        report.check(name("a megabyte"), lambda run=run: equal(len(run("<large>").text), 1_000_000))
        report.check(name("one byte at a time"), lambda run=run: equal(len(run("<one-byte>").calls), 2))
        report.check(name("compressed"), lambda: plain("<gzip>"))

        said = lambda status: lambda error: equal((error.code, error.status), status)
        for mark, kind, status in (
            ("<401>", errors.ClientError, (401, "UNAUTHENTICATED")),
            ("<403>", errors.ClientError, (403, "PERMISSION_DENIED")),
            ("<429>", errors.ClientError, (429, "RESOURCE_EXHAUSTED")),
            ("<500>", errors.ServerError, (500, "INTERNAL")),
            ("<503>", errors.ServerError, (503, "UNAVAILABLE")),
        ):
            report.raises(name(f"{mark} is {kind.__name__}"), kind, lambda mark=mark, run=run: run(mark), said(status))
        unknown = lambda run=run: run("<plain>", model="no-such-model")
        report.raises(name("an unknown model"), errors.ClientError, unknown, said((404, "NOT_FOUND")))
        long = lambda run=run: run("x" * 10_000, model="double-small")
        report.raises(name("a prompt that is too long"), errors.ClientError, long, said((400, "INVALID_ARGUMENT")))
        # The library looks at the numbers only: a page of HTML is an error as well.
        bad = lambda error: equal(error.code, 502)
        report.raises(name("<502>"), (errors.APIError,), lambda run=run: run("<502>"), bad)

    for mark in ("<keep-alive>", "<crlf>", "<unknown-events>"):
        def plain_stream(mark=mark):
            equal(stream(mark).text, PLAIN)

        # The library takes a comment for a part of an error: what it makes of pings is its own.
        if mark != "<keep-alive>":
            report.check(f"genai, streamed: {mark}", plain_stream)
    report.raises("genai, streamed: an error in the stream", (errors.APIError,), lambda: stream("<error-in-stream>"))
    wrong = lambda: stranger.models.generate_content(model=MODEL, contents="<plain>")
    invalid = lambda error: equal((error.code, "API_KEY_INVALID" in str(error)), (400, True))
    report.raises("genai: a wrong key", errors.ClientError, wrong, invalid)

    def parsed():
        config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=City)
        response = client.models.generate_content(model=MODEL, contents="<schema>", config=config)
        equal(response.parsed, City(city="Ulm", people=126329))

    def models():
        listed = list(client.models.list())
        equal([model.name for model in listed], [f"models/double-{size}" for size in ("large", "thinker", "small")])
        equal(client.models.get(model="double-small").input_token_limit, 100)

    def stable_version():
        equal(stable.models.generate_content(model=MODEL, contents="<plain>").text, PLAIN)
        equal("".join(chunk.text for chunk in stable.models.generate_content_stream(model=MODEL, contents="<plain>")), PLAIN)
        equal(len(list(stable.models.list())), 3)

    report.check("genai: the stable version", stable_version)
    report.check("genai: a schema by the library's own way", parsed)
    report.check("genai: the models", models)

    # Controls: what is broken must be noticed, and as what it is.
    call = {"tools": TOOLS, "automatic_function_calling": BY_HAND}
    report.raises("control, genai: arguments as a string", ValidationError, lambda: ask("<arguments-as-string>", **call))
    report.raises("control, genai: the same in a stream", ValidationError, lambda: stream("<arguments-as-string>", **call))
    report.raises("control, genai: garbage", json.JSONDecodeError, lambda: ask("<garbage>"))
    report.raises("control, genai: garbage in the stream", errors.UnknownApiResponseError, lambda: stream("<garbage-in-stream>"))
    report.raises("control, genai: a stream that is cut", httpx2.RemoteProtocolError, lambda: stream("<cut>"))
