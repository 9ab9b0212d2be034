"""Runs every function of a file on every case in plain CPython and prints what
each gives, a JSON line per function: its name, and true, false, or the name of the
exception for each case. What is no bool is a TypeError, as in the sandbox. The
model says yes where the last word of a question, without its question mark,
stands in the response."""

import asyncio
import inspect
import json
import sys


def ask(prompt, response, question):
    return question.rstrip("?'").split()[-1] in response.lower()


async def ask_later(prompt, response, question):
    return ask(prompt, response, question)


def outcome(function, case):
    arguments = case["example"], case["prompt"], case["response"]
    try:
        value = function(*arguments)
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
        return value if isinstance(value, bool) else "TypeError"
    except Exception as error:
        return type(error).__name__


def main(source, cases):
    with open(source, encoding="utf-8") as file:
        code = compile(file.read(), source, "exec")
    with open(cases, encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    names = {}
    exec(code, names)
    functions = [f for f in names.values() if inspect.isfunction(f) and f.__code__.co_filename == source]
    for function in functions:
        names["ask_llm"] = ask_later if inspect.iscoroutinefunction(function) else ask
        print(json.dumps({"name": function.__name__, "outcomes": [outcome(function, c) for c in cases]}))


main(*sys.argv[1:])
