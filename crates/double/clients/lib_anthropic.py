"""The library `anthropic` against Messages."""

import json

import anthropic
import httpx2
from pydantic import BaseModel
from report import equal
from scenarios import CALLS, PLAIN, SIGNATURE, THOUGHT

MODEL = "double-large"
TOOLS = [
    {"name": name, "description": name, "input_schema": {"type": "object", "properties": {}}}
    for name in ("weather", "time_of")
]


class City(BaseModel):
    city: str
    people: int


def checks(report, double):
    def client(key=double.key, strict=True, **more):
        return anthropic.Anthropic(
            api_key=key, base_url=double.url, max_retries=0, _strict_response_validation=strict, **more
        )

    def ask(mark, **more):
        given = {"model": MODEL, "max_tokens": 1000, "messages": [{"role": "user", "content": mark}], **more}
        return client().messages.create(**given)

    def stream(mark, **more):
        """The events are read to their end; the library itself puts the message together."""
        given = {"model": MODEL, "max_tokens": 1000, "messages": [{"role": "user", "content": mark}], **more}
        with client().messages.stream(**given) as stream:
            texts = "".join(stream.text_stream)
            message = stream.get_final_message()
        equal(texts, "".join(block.text for block in message.content if block.type == "text"))
        return message

    for way, run in (("whole", ask), ("streamed", stream)):
        def name(what, way=way):
            return f"anthropic, {way}: {what}"

        def plain(mark="<plain>", run=run):
            message = run(mark)
            equal([(block.type, block.text) for block in message.content], [("text", PLAIN)])
            equal((message.role, message.stop_reason, message.model), ("assistant", "end_turn", MODEL))

        def usage(run=run):
            used = run("<plain>").usage
            equal((used.input_tokens, used.cache_read_input_tokens, used.output_tokens), (60, 40, 30))

        def calls(mark, wanted, run=run):
            message = run(mark, tools=TOOLS)
            got = [block for block in message.content if block.type == "tool_use"]
            equal([{"name": block.name, "args": block.input} for block in got], wanted)
            equal(len({block.id for block in got}), len(wanted))
            equal(message.stop_reason, "tool_use")

        def thought(run=run):
            block = run("<thought>", thinking={"type": "adaptive"}).content[0]
            equal((block.type, block.thinking, block.signature), ("thinking", THOUGHT, SIGNATURE))

        def refusal(run=run):
            message = run("<refusal>")
            equal((message.stop_reason, message.content), ("refusal", []))
            equal(message.stop_details.explanation, "I will not.")

        def schema(run=run):
            form = {"type": "json_schema", "schema": {**City.model_json_schema(), "additionalProperties": False}}
            message = run("<schema>", output_config={"format": form})
            equal(City.model_validate_json(message.content[0].text), City(city="Ulm", people=126329))

        report.check(name("plain text"), plain)
        report.check(name("usage, cached tokens"), usage)
        report.check(name("one call"), lambda: calls("<one-call>", CALLS[:1]))
        report.check(name("two calls"), lambda: calls("<two-calls>", CALLS))
        report.check(name("a thought with its signature"), thought)
        report.check(name("refusal"), refusal)
        report.check(name("a schema"), schema)
        report.check(name("cut off"), lambda run=run: equal(run("<cut-off>").stop_reason, "max_tokens"))
        report.check(name("an empty reply"), lambda run=run: equal(run("<empty>").content, []))
        report.check(name("a megabyte"), lambda run=run: equal(len(run("<large>").content[0].text), 1_000_000))
        report.check(name("one byte at a time"), lambda run=run: equal(len(run("<one-byte>").content), 3))
        report.check(name("compressed"), lambda: plain("<gzip>"))
        if way == "streamed":
            for mark in ("<keep-alive>", "<crlf>"):
                report.check(name(mark), lambda mark=mark: plain(mark))
            report.check(name("interleaved calls"), lambda: calls("<interleaved>", CALLS))

        errors = {
            "<401>": (anthropic.AuthenticationError, 401),
            "<402>": (anthropic.APIStatusError, 402),
            "<403>": (anthropic.PermissionDeniedError, 403),
            "<429>": (anthropic.RateLimitError, 429),
            "<500>": (anthropic.InternalServerError, 500),
        }
        for mark, (kind, status) in errors.items():
            def told(error, status=status):
                equal(error.status_code, status)
                equal(error.body["type"], "error")
                assert error.request_id.startswith("req_"), error.request_id

            report.raises(name(f"{mark} is {kind.__name__}"), kind, lambda mark=mark, run=run: run(mark), told)
        late = lambda error: equal(error.response.headers["retry-after"], "7")
        report.raises(name("when to come back"), anthropic.RateLimitError, lambda run=run: run("<429>"), late)
        for mark in ("<413>", "<502>", "<503>", "<529>"):
            said = lambda error, mark=mark: equal(error.status_code, int(mark.strip("<>")))
            report.raises(name(mark), (anthropic.APIStatusError,), lambda mark=mark, run=run: run(mark), said)
        unknown = lambda run=run: run("<plain>", model="no-such-model")
        report.raises(name("an unknown model"), anthropic.NotFoundError, unknown)
        long = lambda run=run: run("x" * 10_000, model="double-small")
        too_long = lambda error: equal("prompt is too long" in str(error), True)
        report.raises(name("a prompt that is too long"), anthropic.BadRequestError, long, too_long)

    report.raises(
        "anthropic, streamed: filtered", (anthropic.APIStatusError,), lambda: stream("<filtered>"),
        lambda error: equal("content filtering" in str(error), True),
    )
    report.raises("anthropic, whole: filtered", anthropic.BadRequestError, lambda: ask("<filtered>"))
    report.raises(
        "anthropic, streamed: an error in the stream", (anthropic.APIStatusError,),
        lambda: stream("<error-in-stream>"), lambda error: equal("overloaded_error" in str(error), True),
    )
    wrong = client(key="wrong")
    given = {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": "<plain>"}]}
    report.raises("anthropic: a wrong key", anthropic.AuthenticationError, lambda: wrong.messages.create(**given))
    hot = lambda: client().messages.create(**given, extra_body={"temperature": 0.5})
    report.raises("anthropic: a temperature, in the new version", anthropic.BadRequestError, hot)
    old = {"anthropic-version": "2023-06-01"}
    report.check(
        "anthropic: a temperature, in the old version",
        lambda: client().messages.create(**given, extra_body={"temperature": 0.5}, extra_headers=old),
    )
    nameless = lambda: client().messages.create(**given, tools=[{"description": "x", "input_schema": {}}])
    report.raises("anthropic: a tool without a name", anthropic.BadRequestError, nameless)

    def parsed():
        message = client().messages.parse(**{**given, "messages": [{"role": "user", "content": "<schema>"}]}, output_format=City)
        equal(message.parsed_output, City(city="Ulm", people=126329))

    def models():
        listed = client().models.list()
        equal([model.id for model in listed], ["double-large", "double-thinker", "double-small"])
        equal(client().models.retrieve("double-small").max_input_tokens, 100)

    report.check("anthropic: a schema by the library's own way", parsed)
    report.check("anthropic: the models", models)

    # Controls: what is broken must be noticed, and as what it is.
    invalid = anthropic.APIResponseValidationError
    report.raises("control, anthropic: a message without usage", invalid, lambda: ask("<without-usage>"))
    report.raises("control, anthropic: a stream without usage", invalid, lambda: stream("<without-usage>"))
    report.raises("control, anthropic: calls without index", invalid, lambda: stream("<without-index>", tools=TOOLS))
    report.raises("control, anthropic: garbage", json.JSONDecodeError, lambda: ask("<garbage>"))
    report.raises("control, anthropic: a stream that is cut", httpx2.RemoteProtocolError, lambda: stream("<cut>"))
