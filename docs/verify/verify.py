#!/usr/bin/env python3
"""Checks an exported audit of Regent without any code of Regent.

    regent audit export > record.jsonl
    python3 verify.py record.jsonl [--root KEY | --root anchor.jsonl]

It needs Python 3.9 or newer and the package `cryptography` (for Ed25519). What it checks:

  entries       numbered without a gap; hash = SHA-256(hash before || entry), beginning with 32 zero bytes; the
                columns beside an entry say what the entry says; no entry records damage
  checkpoints   numbered without a gap; signed by the key they name; that key is the one the checkpoint before has
                named; each hangs on the digest of the one before; the entry each has signed is the one that is there
  --root        the first checkpoint's key is the one you kept; or, with a file made by `regent audit anchor`, every
                checkpoint in it is here unchanged

The last line is a verdict: `intact` (it is the chain you pinned), `consistent` (nothing is wrong, but the owner of
the machine could have begun again from nothing) or `broken`. Exit code: 0, 0, 1; 2 if the file is no export, or
holds no checkpoint, or if what follows --root is neither a key nor a file with at least one checkpoint.

An export is signed before it is made. Entries that no checkpoint has signed are anybody's, and count as wrong.
"""
import argparse
import hashlib
import json
import re
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ENTRY = {"stream", "seq", "entry", "prev_hash", "hash", "at", "kind", "actor", "subject", "trust", "origin_id", "reason_id", "vpol_id"}
LINES = [{"checkpoint", "signature"}, ENTRY]
COLUMNS = ["actor", "at", "kind", "origin_id", "reason_id", "stream", "subject", "trust", "vpol_id"]
TEXTS = ["checkpoint", "signature", "stream", "entry", "prev_hash", "hash"]
ZERO = "00" * 32


class NotAnExport(Exception):
    pass


class NotAPin(Exception):
    pass


def no_name_twice(pairs):
    """JSON may name a member twice, and then says two things."""
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a name stands there twice")
    return dict(pairs)


def no_number(text):
    raise ValueError(f"{text} is no number")


def read(text):
    try:
        return json.loads(text, object_pairs_hook=no_name_twice, parse_constant=no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def is_line(record):
    """Whether it is an object with the members of a checkpoint or of an entry, and those that are checked have their types."""
    if not isinstance(record, dict) or set(record) not in LINES:
        return False
    return type(record.get("seq", 1)) is int and all(isinstance(record.get(name, ""), str) for name in TEXTS)


def is_canonical(text, value):
    return text == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def is_signed(key, text, signature):
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        public.verify(bytes.fromhex(signature), b"regent/checkpoint\n" + text.encode())
        return re.fullmatch("[0-9a-f]{128}", signature) is not None
    except (InvalidSignature, ValueError):
        return False


def check_checkpoints(lines):
    """Returns the promises (stream, number of an entry) -> (epoch, its hash), the root, and what is wrong."""
    promises, faults, root = {}, [], None
    due, key, before = 1, None, ZERO
    for line in lines:
        text = line["checkpoint"]
        try:
            says = read(text)
            epoch, public = says["epoch"], says["public"]
            heads = [(head["stream"], head["seq"], head["hash"]) for head in says["heads"]]
            fault = None
            if epoch != due:
                fault = f"checkpoint {due} is missing"
            elif not is_signed(public, text, line["signature"]):
                fault = f"checkpoint {epoch} is not signed by the key that it names"
            elif key is not None and public != key:
                fault = f"checkpoint {epoch} is signed by another key than the one before it has named"
            elif says["previous"] != before:
                fault = f"checkpoint {epoch} does not hang on the one before it"
            due, key = epoch + 1, says["next"]
        except (ValueError, KeyError, TypeError):
            fault, due, key = f"checkpoint {due} is unreadable", due + 1, None
        before = hashlib.sha256(text.encode()).hexdigest()
        if fault:
            faults.append(fault)
            continue
        root = public if epoch == 1 else root
        for stream, seq, digest in heads:
            promises.setdefault((stream, seq), []).append((epoch, digest))
    return promises, root, faults


def check_entry(line, last, expected):
    """What is wrong with one entry; `last` is the number of the one before, `expected` its hash."""
    seq, text = line["seq"], line["entry"]
    if seq != last + 1:
        return f"entries {last + 1} to {seq - 1} are missing"
    if line["prev_hash"] != expected:
        return f"entry {seq} does not follow from the one before it"
    try:
        digest = hashlib.sha256(bytes.fromhex(line["prev_hash"]) + text.encode()).hexdigest()
    except ValueError:
        digest = None
    if digest != line["hash"]:
        return f"entry {seq} was changed: its bytes do not give its hash"
    try:
        says = read(text)
    except ValueError:
        return f"entry {seq} is unreadable"
    if not is_canonical(text, says):
        return f"entry {seq} is not written as entries are"
    if sorted(says) != sorted(COLUMNS + ["detail"]) or any(says[name] != line[name] for name in COLUMNS):
        return f"entry {seq}: the columns beside it do not say what it says"
    damaged = says["kind"] in ("audit.healed", "audit.damaged")
    return f"entry {seq} records that the chain was damaged there" if damaged else None


def read_pin(root):
    """The root key, or the checkpoints of a file, as (text, signature, epoch)."""
    if root is None or re.fullmatch("[0-9a-f]{64}", root):
        return root
    with open(root, encoding="utf-8") as file:
        lines = [(number, line) for number, line in enumerate(file, 1) if line.strip()]
    if not lines:
        raise NotAPin(f"{root} holds no checkpoint; a file that `regent audit anchor` made holds at least one")
    pinned = []
    for number, line in lines:
        try:
            checkpoint = read(line)
            if not is_line(checkpoint) or set(checkpoint) != LINES[0]:
                raise ValueError
            pinned.append((checkpoint["checkpoint"], checkpoint["signature"], read(checkpoint["checkpoint"])["epoch"]))
        except (ValueError, KeyError, TypeError):
            raise NotAPin(f"{root}: line {number} is no checkpoint") from None
    return pinned


def compare_pin(pin, root, checkpoints):
    """What is wrong with the chain that was pinned. Only a pin that this finds nothing wrong with makes it intact."""
    if isinstance(pin, str):
        return [] if root == pin else ["the chain does not begin with the pinned root"]
    here = {(line["checkpoint"], line["signature"]) for line in checkpoints}
    return [f"checkpoint {epoch} was anchored, and is not here" for text, signature, epoch in pin if (text, signature) not in here]


def verify(lines, pin):
    title = read(next(lines, "null"))
    if title != {"export": "regent-audit", "version": 1}:
        raise NotAnExport("line 1: this is not an export that I know")
    records = [read(line) for line in lines]
    if not all(is_line(record) for record in records):
        raise NotAnExport("a line is neither a checkpoint nor an entry")
    checkpoints = [record for record in records if "checkpoint" in record]
    entries = records[len(checkpoints):]
    if any("checkpoint" in record for record in entries):
        raise NotAnExport("checkpoints come before entries")
    if not checkpoints:
        raise NotAnExport("it holds no checkpoint, so nothing in it is signed; make it with `regent audit export`")
    promises, root, faults = check_checkpoints(checkpoints)
    tips, signed = {}, {}
    for line in entries:
        stream, seq, digest = line["stream"], line["seq"], line["hash"]
        fault = check_entry(line, *tips.get(stream, (0, ZERO)))
        faults += [fault] if fault else []
        tips[stream] = (seq, digest)
        for epoch, promised in promises.pop((stream, seq), []):
            signed[stream] = seq
            if promised != digest:
                faults.append(f"checkpoint {epoch} has signed another entry {seq} than the one that is there")
    for (stream, seq), unmet in promises.items():
        faults += [f"checkpoint {epoch} has signed {seq} entries, they are not all there" for epoch, _ in unmet]
    for stream, (last, _) in tips.items():
        if last > signed.get(stream, 0):
            faults.append(f"nobody has signed the entries after {signed.get(stream, 0)}")
    if pin is not None:
        faults += compare_pin(pin, root, checkpoints)
    return faults, len(entries), sum(signed.values()), len(checkpoints)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("export")
    arguments.add_argument("--root", help="the root key, or a file of checkpoints that you kept elsewhere")
    given = arguments.parse_args()
    try:
        pin = read_pin(given.root)
        with open(given.export, encoding="utf-8") as file:
            faults, entries, signed, checkpoints = verify(iter(file.read().removesuffix("\n").split("\n")), pin)
    except NotAPin as error:
        print(f"--root is neither a root key (64 hexadecimal digits) nor a file of checkpoints: {error}", file=sys.stderr)
        return 2
    except Exception as error:  # what cannot be checked is no verdict: Python itself would exit with 1, which means broken
        print(f"this is no export of an audit, or no root: {error}", file=sys.stderr)
        return 2
    for fault in faults:
        print(fault)
    word = "broken" if faults else "consistent" if pin is None else "intact"
    print(f"{word}: {entries} entries, {signed} of them signed by {checkpoints} checkpoints")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
