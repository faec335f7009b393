"""What the double is told to say: one scenario per mark, which a check puts into its prompt."""

import base64

SIGNATURE = base64.b64encode(b"signed by the double").decode()
USAGE = {"in": 100, "cached": 40, "out": 30, "thought": 10}
PLAIN = "Grüß dich, Welt: ☃ and a few words more."
THOUGHT = "First I look, then I speak."
CITY = '{"city": "Ulm", "people": 126329}'
CALLS = [
    {"name": "weather", "args": {"city": "Ulm", "days": 3}},
    {"name": "time_of", "args": {"zone": "Europe/Berlin", "note": "ünïcode \"quoted\""}},
]


def reaction(said=None, *faults):
    return {"said": {"usage": USAGE, **(said or {})}, "faults": list(faults)}


def denied(why):
    return reaction({"text": "never seen"}, {"deny": why})


SCENARIOS = {
    "<plain>": reaction({"text": PLAIN}),
    "<schema>": reaction({"text": CITY}),
    "<one-call>": reaction({"calls": CALLS[:1]}),
    "<two-calls>": reaction({"text": "I look it up.", "calls": CALLS}),
    "<interleaved>": reaction({"calls": CALLS}, "calls_interleaved"),
    "<thought>": reaction({"text": PLAIN, "thought": {"text": THOUGHT, "signature": SIGNATURE}}),
    "<thought-and-call>": reaction({"calls": CALLS[:1], "thought": {"text": THOUGHT, "signature": SIGNATURE}}),
    "<refusal>": reaction({"refusal": "I will not."}),
    "<filtered>": reaction({"text": "", "filtered": True}),
    "<cut-off>": reaction({"text": "and then", "cut_off": True}),
    "<cut-off-json>": reaction({"text": '{"city": "U', "cut_off": True}),
    "<empty>": reaction({}),
    "<one-byte>": reaction({"text": PLAIN, "calls": CALLS}, {"pieces": [1]}),
    "<keep-alive>": reaction({"text": PLAIN}, "keep_alive"),
    "<crlf>": reaction({"text": PLAIN}, "crlf"),
    "<unknown-events>": reaction({"text": PLAIN}, "unknown_events"),
    "<error-in-stream>": reaction({"text": PLAIN}, "error_in_stream"),
    "<cut>": reaction({"text": PLAIN}, {"cut_at": 300}),
    "<large>": reaction({}, {"large": 1_000_000}),
    "<gzip>": reaction({"text": PLAIN}, "gzip"),
    "<401>": denied("unauthorized"),
    "<402>": denied("payment"),
    "<403>": denied("forbidden"),
    "<413>": denied("too_large"),
    "<429>": denied({"rate_limited": {"seconds": 7}}),
    "<500>": denied("internal"),
    "<502>": denied("bad_gateway"),
    "<503>": denied({"unavailable": None}),
    "<529>": denied("overloaded"),
    # What must be noticed.
    "<without-usage>": reaction({"text": PLAIN}, {"without": "usage"}),
    "<without-choices>": reaction({"text": PLAIN}, {"without": "choices"}),
    "<without-output>": reaction({"text": PLAIN}, {"without": "output"}),
    "<without-message>": reaction({"text": PLAIN}, {"without": "message"}),
    "<without-index>": reaction({"text": "", "calls": CALLS}, "calls_without_index"),
    "<arguments-as-string>": reaction({"calls": CALLS}, "arguments_as_string"),
    "<garbage>": reaction({"text": PLAIN}, "garbage"),
    "<garbage-in-stream>": reaction({"text": PLAIN}, "garbage_in_stream"),
}

SCRIPT = {
    "when": [{"says": says, "then": then} for says, then in SCENARIOS.items()],
    "otherwise": reaction({"text": "no scenario"}),
}
