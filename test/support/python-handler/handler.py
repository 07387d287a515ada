"""A teardown handler in Python, written from docs/schemas and docs/write-a-handler.md alone; the standard library only.

Takes down folders of a file share (target: share, folder). The file `.owner.json` in a folder holds its tags. Lambda would call
handle(event, context); run as a program it takes one event on standard input and prints the response, as the test does.
"""

import datetime
import decimal
import hashlib
import hmac
import json
import os
import pathlib
import shutil
import sys
import urllib.parse
import urllib.request
import uuid

REQUEST_TYPE = "dev.finalizer-bridge.deletion.pending.v1"
RESULT_TYPE = "dev.finalizer-bridge.teardown.result.v1"
KEEP = "finalizer-bridge.dev/keep"
SKEW = 60
# The largest that this handler needs for a run, in seconds.
BUDGET = 60
NAME = "shared-folder"


def number(value):
    """A number as ECMAScript writes it, which RFC 8785 asks for: the shortest digits, as Python's, with other exponents."""
    sign, digits, exponent = decimal.Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + exponent
    if value == 0:
        return "0"
    if 0 < point <= 21:
        text = text.ljust(point, "0") if exponent >= 0 else f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        text = "0." + "0" * -point + text
    else:
        rest = "." + text[1:] if len(text) > 1 else ""
        text = f"{text[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return ("-" if sign else "") + text


def canonical(value):
    """RFC 8785 for what targets, options and ownership hold: keys by UTF-16 code units, no white space, raw text."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    if isinstance(value, float):
        return number(value)
    return json.dumps(value, ensure_ascii=False)


def digest(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def when(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def decode(body):
    """The request, or ValueError: then the message stays in its queue."""
    if len(body.encode()) > 65536:
        raise ValueError("too large")
    request = json.loads(body)
    if not isinstance(request, dict) or request.get("specversion") != "1.0" or request.get("type") != REQUEST_TYPE:
        raise ValueError("not a request of this version")
    data = request["data"]
    if digest(data["target"]) != data["targetDigest"]:
        raise ValueError("targetDigest does not match the target")
    rule = {
        "cluster": data["cluster"]["uid"],
        "handler": data["handler"],
        "options": data["options"],
        "ownership": data["ownership"],
        "rule": data["rule"]["uid"],
    }
    if digest(rule) != data["ruleDigest"]:
        raise ValueError("ruleDigest does not match cluster, rule, handler, options and ownership")
    short = hashlib.sha256(f"{data['targetDigest']}{data['ruleDigest']}".encode()).hexdigest()[:16]
    identity = [data["object"]["uid"], data["rule"]["name"], short, str(data["attempt"])]
    if "retry" in data:
        identity.append(str(data["retry"]))
    if request["id"] != "/".join(identity):
        raise ValueError("id does not match the data")
    return request


def late(data, now):
    left = when(data["expires"]).timestamp() - now
    return left < BUDGET + SKEW


def refused(reason, message):
    return {"outcome": "refused", "reason": reason, "message": message[:512]}


def guard(data, config, now):
    """An outcome that needs no look, or None."""
    if late(data, now):
        return {"outcome": "pending", "reason": "Expired", "message": "too little time was left before it expires"}
    target = data["target"]
    if set(target) != {"share", "folder"} or not all(isinstance(value, str) for value in target.values()):
        return refused("InvalidTarget", "a target is share and folder")
    if data["options"]:
        return refused("InvalidOptions", "there are no options")
    if "none" in data["ownership"]:
        return refused("OwnershipNoneNotAllowed", "this function wants a proof")
    if target["share"] not in config["shares"] or not target["folder"].startswith(config["prefix"]):
        return refused("NameNotAllowed", f"{target['folder']} is not one that this function may touch")
    if "/" in target["folder"] or target["folder"] in (".", ".."):
        return refused("InvalidTarget", "a folder is one name")
    return None


def teardown(data, config):
    folder = pathlib.Path(config["shares"][data["target"]["share"]]) / data["target"]["folder"]
    if not folder.is_dir():
        return {"outcome": "gone", "evidence": "absent"}
    try:
        tags = json.loads((folder / ".owner.json").read_text())
    except FileNotFoundError:
        return refused("NotOwned", "the folder names no owner")
    if KEEP in tags:
        return refused("Kept", f"the tag {KEEP} is set")
    missing = [key for key, value in data["ownership"]["tags"].items() if tags.get(key) != value]
    if missing:
        return refused("NotOwned", f"tag {missing[0]} has another value than the object's, or is missing")
    # In one step out of everybody's sight, so that nobody who comes between sees half a folder, or loses a new one.
    going = folder.with_name(f".going-{uuid.uuid4()}")
    try:
        folder.rename(going)
    except FileNotFoundError:
        return {"outcome": "gone", "evidence": "deleted"}
    shutil.rmtree(going)
    return {"outcome": "gone", "evidence": "deleted"}


def result_of(request, outcome, record, now, seconds):
    data = request["data"]
    return {
        "specversion": "1.0",
        "id": f"{request['id']}/results/{record['messageId']}.{record['attributes']['ApproximateReceiveCount']}",
        "source": f"{request['source']}/handlers/{NAME}",
        "type": RESULT_TYPE,
        "subject": request["subject"],
        "time": datetime.datetime.fromtimestamp(now, datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "datacontenttype": "application/json",
        "traceparent": request["traceparent"],
        "data": {
            "requestId": request["id"],
            **{key: data[key] for key in ("cluster", "rule", "object", "attempt", "retry") if key in data},
            **{key: data[key] for key in ("targetDigest", "ruleDigest", "expires")},
            "result": outcome,
            "handler": {"name": NAME, "version": "1.0.0", "contract": 1},
            "durationMs": round(seconds * 1000),
        },
    }


def sqs(action, body, env):
    """One call of SQS, signed by Signature Version 4; boto3 does the same in two lines."""
    url = urllib.parse.urlsplit(env["AWS_ENDPOINT_URL_SQS"])
    payload = json.dumps(body).encode()
    stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    scope = f"{stamp[:8]}/{env['AWS_REGION']}/sqs/aws4_request"
    headers = {"content-type": "application/x-amz-json-1.0", "host": url.netloc, "x-amz-date": stamp, "x-amz-target": f"AmazonSQS.{action}"}
    signed = ";".join(headers)
    lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
    asked = f"POST\n/\n\n{lines}\n{signed}\n{hashlib.sha256(payload).hexdigest()}"
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(asked.encode()).hexdigest()}"
    key = ("AWS4" + env["AWS_SECRET_ACCESS_KEY"]).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    credential = f"Credential={env['AWS_ACCESS_KEY_ID']}/{scope}"
    headers["authorization"] = f"AWS4-HMAC-SHA256 {credential}, SignedHeaders={signed}, Signature={signature}"
    with urllib.request.urlopen(urllib.request.Request(url.geturl() + "/", payload, headers), timeout=10) as answer:
        return json.load(answer)


def handle(event, _context, env=os.environ):
    config = json.loads(env["CONFIG"])
    failed = []
    for record in event["Records"]:
        # A record counts as failed until its answer was sent.
        try:
            began = datetime.datetime.now().timestamp()
            request = decode(record["body"])
            data = request["data"]
            cluster = config["clusters"].get(data["cluster"]["uid"])
            sender = record["attributes"]["SenderId"].split(":")[0]
            if cluster is None or sender != cluster["sender"] or data["handler"] != NAME:
                raise ValueError("unknown cluster or sender, or another handler's request")
            outcome = guard(data, config, began) or teardown(data, config)
            now = datetime.datetime.now().timestamp()
            body = canonical(result_of(request, outcome, record, now, max(0.0, now - began)))
            sqs("SendMessage", {"QueueUrl": cluster["resultQueueUrl"], "MessageBody": body}, env)
            if outcome["outcome"] == "pending" and outcome["reason"] != "Expired":
                raise ValueError("it comes again when its visibility ends")
        except Exception as error:  # noqa: BLE001: whatever it is, the message stays
            print(json.dumps({"level": "error", "messageId": record.get("messageId"), "error": repr(error)}), file=sys.stderr)
            failed.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failed}


if __name__ == "__main__":
    print(json.dumps(handle(json.load(sys.stdin), None)))
