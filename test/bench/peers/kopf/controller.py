"""The finalizer controller that one would write with kopf: it takes its finalizer off what is being deleted, and does nothing
else. Started by test/bench/peers.ts, to be measured beside the bridge."""

import os

import kopf

KEY, VALUE = os.environ["PEER_LABEL"].split("=", 1)


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_):
    settings.persistence.finalizer = os.environ["PEER_ENTRY"]
    # Events would be calls that the bridge does not make either.
    settings.posting.enabled = False


@kopf.on.delete("", "v1", "configmaps", labels={KEY: VALUE})
async def gone(**_):
    pass
