"""The library `openai` against Responses."""

import json

import openai
from lib_chat import ERRORS, City, client_of
from report import equal
from scenarios import CALLS, PLAIN, SIGNATURE, THOUGHT

MODEL = "double-large"
TOOLS = [
    {"type": "function", "name": name, "strict": False, "parameters": {"type": "object", "properties": {}}}
    for name in ("weather", "time_of")
]


def checks(report, double):
    client = client_of(double)

    def ask(mark, **more):
        return client.responses.create(**{"model": MODEL, "input": mark, **more})

    def stream(mark, **more):
        with client.responses.stream(**{"model": MODEL, "input": mark, **more}) as events:
            for event in events:
                if event.type in ("response.incomplete", "response.failed"):
                    return event.response
            return events.get_final_response()

    for way, run in (("whole", ask), ("streamed", stream)):
        def name(what, way=way):
            return f"openai responses, {way}: {what}"

        def plain(mark="<plain>", run=run):
            response = run(mark)
            equal((response.status, response.output_text, response.model), ("completed", PLAIN, MODEL))

        def usage(run=run):
            used = run("<plain>").usage
            equal((used.input_tokens, used.output_tokens, used.total_tokens), (100, 30, 130))
            equal((used.input_tokens_details.cached_tokens, used.output_tokens_details.reasoning_tokens), (40, 10))

        def calls(mark, wanted, run=run):
            got = [item for item in run(mark, tools=TOOLS).output if item.type == "function_call"]
            equal([{"name": item.name, "args": json.loads(item.arguments)} for item in got], wanted)
            equal(len({item.call_id for item in got}), len(wanted))

        def thought(run=run):
            more = {"model": "double-thinker", "reasoning": {"effort": "low", "summary": "auto"}}
            item = run("<thought>", include=["reasoning.encrypted_content"], **more).output[0]
            equal((item.type, item.summary[0].text, item.encrypted_content), ("reasoning", THOUGHT, SIGNATURE))

        def refusal(run=run):
            part = run("<refusal>").output[0].content[0]
            equal((part.type, part.refusal), ("refusal", "I will not."))

        def incomplete(mark, why, run=run):
            response = run(mark)
            equal((response.status, response.incomplete_details.reason), ("incomplete", why))

        def schema(run=run):
            form = {"type": "json_schema", "name": "city", "strict": True}
            form["schema"] = {**City.model_json_schema(), "additionalProperties": False}
            text = run("<schema>", text={"format": form}).output_text
            equal(City.model_validate_json(text), City(city="Ulm", people=126329))

        report.check(name("plain text"), plain)
        report.check(name("usage, cached tokens"), usage)
        report.check(name("one call"), lambda: calls("<one-call>", CALLS[:1]))
        report.check(name("two calls"), lambda: calls("<two-calls>", CALLS))
        report.check(name("a thought with its signature"), thought)
        report.check(name("refusal"), refusal)
        report.check(name("cut off"), lambda: incomplete("<cut-off>", "max_output_tokens"))
        report.check(name("filtered"), lambda: incomplete("<filtered>", "content_filter"))
        report.check(name("a schema"), schema)
        report.check(name("an empty reply"), lambda run=run: equal(run("<empty>").output, []))
        report.check(name("a megabyte"), lambda run=run: equal(len(run("<large>").output_text), 1_000_000))
        report.check(name("one byte at a time"), lambda run=run: equal(len(run("<one-byte>").output), 3))
        report.check(name("compressed"), lambda: plain("<gzip>"))
        if way == "streamed":
            for mark in ("<keep-alive>", "<crlf>"):
                report.check(name(mark), lambda mark=mark: plain(mark))
            report.check(name("interleaved calls"), lambda: calls("<interleaved>", CALLS))

        for mark, (kind, status) in ERRORS.items():
            told = lambda error, status=status: equal(error.status_code, status)
            report.raises(name(f"{mark} is {kind.__name__}"), kind, lambda mark=mark, run=run: run(mark), told)
        coded = lambda code: lambda error: equal(error.code, code)
        unknown = lambda run=run: run("<plain>", model="no-such-model")
        report.raises(name("an unknown model"), openai.NotFoundError, unknown, coded("model_not_found"))
        long = lambda run=run: run("x" * 10_000, model="double-small")
        report.raises(name("a prompt that is too long"), openai.BadRequestError, long, coded("context_length_exceeded"))

    def failed():
        kinds = [event.type for event in client.responses.create(model=MODEL, input="<error-in-stream>", stream=True)]
        equal(kinds[-2:], ["error", "response.failed"])

    def parsed():
        response = client.responses.parse(model=MODEL, input="<schema>", text_format=City)
        equal(response.output_parsed, City(city="Ulm", people=126329))

    report.check("openai responses, streamed: an error in the stream", failed)
    report.check("openai responses: a schema by the library's own way", parsed)
    nested = [{"type": "function", "function": {"name": "weather", "parameters": {}}}]
    of_field = lambda error: equal((error.code, error.param), ("missing_required_parameter", "tools[0].name"))
    report.raises("openai responses: a tool in the form of chat", openai.BadRequestError, lambda: ask("<plain>", tools=nested), of_field)
    wrong = client_of(double, "wrong")
    given = {"model": MODEL, "input": "<plain>"}
    report.raises("openai responses: a wrong key", openai.AuthenticationError, lambda: wrong.responses.create(**given))

    # Controls: what is broken must be noticed, and as what it is.
    invalid = openai.APIResponseValidationError
    report.raises("control, openai responses: without output", invalid, lambda: ask("<without-output>"))
    report.raises("control, openai responses: a stream without output", invalid, lambda: stream("<without-output>"))
    report.raises("control, openai responses: calls without index", invalid, lambda: stream("<without-index>", tools=TOOLS))
    report.raises("control, openai responses: garbage", json.JSONDecodeError, lambda: ask("<garbage>"))
    report.raises("control, openai responses: a stream that is cut", openai.APIConnectionError, lambda: stream("<cut>"))
