"""The library `openai` against Chat Completions."""

import json

import openai
from pydantic import BaseModel
from report import equal
from scenarios import CALLS, PLAIN, THOUGHT

MODEL = "double-large"
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("weather", "time_of")
]


class City(BaseModel):
    city: str
    people: int


def client_of(double, key=None):
    key = key or double.key
    return openai.OpenAI(
        api_key=key, base_url=f"{double.url}/v1", max_retries=0, _strict_response_validation=True
    )


ERRORS = {
    "<401>": (openai.AuthenticationError, 401),
    "<402>": (openai.APIStatusError, 402),
    "<403>": (openai.PermissionDeniedError, 403),
    "<413>": (openai.APIStatusError, 413),
    "<429>": (openai.RateLimitError, 429),
    "<500>": (openai.InternalServerError, 500),
    "<502>": (openai.InternalServerError, 502),
    "<503>": (openai.InternalServerError, 503),
    "<529>": (openai.InternalServerError, 529),
}


def checks(report, double):
    client = client_of(double)

    def ask(mark, **more):
        given = {"model": MODEL, "messages": [{"role": "user", "content": mark}], **more}
        return client.chat.completions.create(**given)

    def stream(mark, **more):
        given = {"model": MODEL, "messages": [{"role": "user", "content": mark}], **more}
        given["stream_options"] = {"include_usage": True}
        with client.chat.completions.stream(**given) as events:
            for _ in events:
                pass
            return events.get_final_completion()

    for way, run in (("whole", ask), ("streamed", stream)):
        def name(what, way=way):
            return f"openai chat, {way}: {what}"

        def plain(mark="<plain>", run=run):
            completion = run(mark)
            [choice] = completion.choices
            equal((choice.message.role, choice.message.content, choice.finish_reason), ("assistant", PLAIN, "stop"))
            equal(completion.model, MODEL)

        def usage(run=run):
            used = run("<plain>").usage
            equal((used.prompt_tokens, used.completion_tokens, used.total_tokens), (100, 30, 130))
            equal(used.prompt_tokens_details.cached_tokens, 40)
            equal(used.completion_tokens_details.reasoning_tokens, 10)

        def calls(mark, wanted, run=run):
            [choice] = run(mark, tools=TOOLS).choices
            got = choice.message.tool_calls
            equal([{"name": call.function.name, "args": json.loads(call.function.arguments)} for call in got], wanted)
            equal(len({call.id for call in got}), len(wanted))
            equal((choice.finish_reason, {call.type for call in got}), ("tool_calls", {"function"}))

        def refusal(run=run):
            [choice] = run("<refusal>").choices
            equal((choice.message.refusal, choice.message.content or None, choice.finish_reason), ("I will not.", None, "stop"))

        def schema(run=run):
            form = {"name": "city", "strict": True, "schema": {**City.model_json_schema(), "additionalProperties": False}}
            text = run("<schema>", response_format={"type": "json_schema", "json_schema": form}).choices[0].message.content
            equal(City.model_validate_json(text), City(city="Ulm", people=126329))

        def thought(run=run):
            equal(run("<thought>").choices[0].message.reasoning_content, THOUGHT)

        def finish(mark, wanted, run=run):
            equal(run(mark).choices[0].finish_reason, wanted)

        report.check(name("plain text"), plain)
        report.check(name("usage, cached tokens"), usage)
        report.check(name("one call"), lambda: calls("<one-call>", CALLS[:1]))
        report.check(name("two calls"), lambda: calls("<two-calls>", CALLS))
        report.check(name("refusal"), refusal)
        report.check(name("a schema"), schema)
        report.check(name("an empty reply"), lambda run=run: equal(run("<empty>").choices[0].message.content or "", ""))
        report.check(name("a megabyte"), lambda run=run: equal(len(run("<large>").choices[0].message.content), 1_000_000))
        report.check(name("one byte at a time"), lambda run=run: equal(len(run("<one-byte>").choices[0].message.tool_calls), 2))
        report.check(name("compressed"), lambda: plain("<gzip>"))
        if way == "whole":
            report.check(name("a thought, where it is shown"), thought)
            report.check(name("filtered"), lambda: finish("<filtered>", "content_filter"))
            report.check(name("cut off"), lambda: finish("<cut-off>", "length"))
        else:
            for mark in ("<keep-alive>", "<crlf>", "<unknown-events>"):
                report.check(name(mark), lambda mark=mark: plain(mark))
            report.check(name("interleaved calls"), lambda: calls("<interleaved>", CALLS))
            # The library makes errors of these two.
            report.raises(name("cut off"), openai.LengthFinishReasonError, lambda: stream("<cut-off-json>", response_format=City))
            filtered = lambda: stream("<filtered>", response_format=City)
            report.raises(name("filtered"), openai.ContentFilterFinishReasonError, filtered)

        for mark, (kind, status) in ERRORS.items():
            told = lambda error, status=status: equal(error.status_code, status)
            report.raises(name(f"{mark} is {kind.__name__}"), kind, lambda mark=mark, run=run: run(mark), told)
        late = lambda error: equal((error.code, error.response.headers["retry-after"]), ("rate_limit_exceeded", "7"))
        report.raises(name("when to come back"), openai.RateLimitError, lambda run=run: run("<429>"), late)
        unknown = lambda run=run: run("<plain>", model="no-such-model")
        coded = lambda code: lambda error: equal(error.code, code)
        report.raises(name("an unknown model"), openai.NotFoundError, unknown, coded("model_not_found"))
        long = lambda run=run: run("x" * 10_000, model="double-small")
        report.raises(name("a prompt that is too long"), openai.BadRequestError, long, coded("context_length_exceeded"))
        strange = lambda run=run: run("<plain>", model="double-thinker", max_tokens=5)
        warm = lambda run=run: run("<plain>", model="double-thinker", temperature=0.5)
        report.raises(name("a value that is not supported"), openai.BadRequestError, warm, coded("unsupported_value"))
        report.raises(name("a parameter that is not supported"), openai.BadRequestError, strange, coded("unsupported_parameter"))

    def thoughts_of_a_stream():
        given = {"model": MODEL, "messages": [{"role": "user", "content": "<thought>"}], "stream": True}
        deltas = [chunk.choices[0].delta for chunk in client.chat.completions.create(**given) if chunk.choices]
        equal("".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas), THOUGHT)
        equal("".join(delta.content or "" for delta in deltas), PLAIN)

    def parsed():
        given = {"model": MODEL, "messages": [{"role": "user", "content": "<schema>"}], "response_format": City}
        equal(client.chat.completions.parse(**given).choices[0].message.parsed, City(city="Ulm", people=126329))

    def models():
        equal([model.id for model in client.models.list()], ["double-large", "double-thinker", "double-small"])
        equal(client.models.retrieve("double-small").owned_by, "double")

    report.check("openai chat, streamed: a thought, where it is shown", thoughts_of_a_stream)
    report.check("openai chat: a schema by the library's own way", parsed)
    report.check("openai: the models", models)
    report.raises("openai chat, streamed: an error in the stream", openai.APIError, lambda: stream("<error-in-stream>"))
    wrong = client_of(double, "wrong")
    given = {"model": MODEL, "messages": [{"role": "user", "content": "<plain>"}]}
    report.raises("openai chat: a wrong key", openai.AuthenticationError, lambda: wrong.chat.completions.create(**given))
    open_schema = {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": {"type": "object"}}}
    report.raises("openai chat: an open schema", openai.BadRequestError, lambda: ask("<plain>", response_format=open_schema))

    # Controls: what is broken must be noticed, and as what it is.
    invalid = openai.APIResponseValidationError
    report.raises("control, openai chat: without choices", invalid, lambda: ask("<without-choices>"))
    report.raises("control, openai chat: a stream without choices", invalid, lambda: stream("<without-choices>"))
    report.raises("control, openai chat: calls without index", invalid, lambda: stream("<without-index>", tools=TOOLS))
    report.raises("control, openai chat: garbage", json.JSONDecodeError, lambda: ask("<garbage>"))
    report.raises("control, openai chat: garbage in the stream", json.JSONDecodeError, lambda: stream("<garbage-in-stream>"))
    report.raises("control, openai chat: a stream that is cut", openai.APIConnectionError, lambda: stream("<cut>"))
