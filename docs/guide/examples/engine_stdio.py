"""MCP over standard input and output: the engine bound by hand. One message a line, one call at a time."""

import asyncio
import sys

from engine_tools import engine

from webseam.protocol import Session

LIMIT = 10 * 1024 * 1024  # bytes of a line


def main():
    messages, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing but messages may reach standard output: a print() goes elsewhere

    def send(message):
        answers.write(message + b"\n")
        answers.flush()

    session = Session(push=send)  # what this client agreed on; `push` takes what belongs to no request
    with asyncio.Runner() as runner:
        while line := messages.readline(LIMIT + 1):
            if len(line) > LIMIT:
                sys.exit(f"A message may have at most {LIMIT} bytes.")
            outcome = engine.receive(line, session=session)
            if outcome.work is not None:
                outcome = runner.run(outcome.work)
            for message in outcome.before or ():
                send(message)
            if outcome.reply is not None:
                send(outcome.reply)


if __name__ == "__main__":
    main()
