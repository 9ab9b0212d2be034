"""Assertions in the forms that models write them. Each takes an example, the
prompt and the response. The test runs every one of them in plain CPython and in
the sandbox and compares."""

import json
import math
import re
import string
from collections import Counter
from datetime import datetime


# Counting.

async def word_limit(example: dict, prompt: str, response: str) -> bool:
    return len(response.split()) <= 60


async def word_range(example: dict, prompt: str, response: str) -> bool:
    """Between five and eighty words."""
    count = len(response.split())
    return 5 <= count <= 80


async def limit_from_example(example: dict, prompt: str, response: str):
    limit = int(example.get("max_words", 50))
    return len(response.split()) <= limit


async def sentence_count(example: dict, prompt: str, response: str):
    sentences = [s for s in re.split(r"[.!?]+", response) if s.strip()]
    return len(sentences) <= 4


async def bullet_count(example: dict, prompt: str, response: str) -> bool:
    bullets = [line for line in response.splitlines() if line.strip().startswith(("-", "*", "•"))]
    return 2 <= len(bullets) <= 5


async def every_bullet_short(example: dict, prompt: str, response: str) -> bool:
    lines = [l.strip("-* ") for l in response.split("\n") if l.lstrip().startswith("-")]
    return all(len(l.split()) <= 12 for l in lines)


async def paragraph_count(example: dict, prompt: str, response: str) -> bool:
    return len([p for p in response.split("\n\n") if p.strip() != ""]) in (1, 2, 3)


async def exclamation_marks(example: dict, prompt: str, response: str) -> bool:
    return response.count("!") == 0


async def question_marks(example: dict, prompt: str, response: str) -> bool:
    return not response.count("?") > 1


async def character_limit(example: dict, prompt: str, response: str) -> bool:
    return len(response) <= 280


async def most_common_word(example: dict, prompt: str, response: str) -> bool:
    words = Counter(re.findall(r"[a-z']+", response.lower()))
    return not words or words.most_common(1)[0][1] <= 6


async def average_word(example: dict, prompt: str, response: str) -> bool:
    words = response.split()
    if not words:
        return False
    return sum(map(len, words)) / len(words) < 7.5


async def numbered_in_order(example: dict, prompt: str, response: str) -> bool:
    numbers = [int(n) for n in re.findall(r"^(\d+)\.", response, re.MULTILINE)]
    return numbers == sorted(numbers) and len(numbers) == len(set(numbers))


# Phrases.

async def mentions_name(example: dict, prompt: str, response: str) -> bool:
    return example["name"] in response


async def mentions_name_any_case(example: dict, prompt: str, response: str) -> bool:
    return example["name"].lower() in response.lower()


async def greets(example: dict, prompt: str, response: str) -> bool:
    return response.startswith("Hello") or response.startswith("Hi")


async def greets_tuple(example: dict, prompt: str, response: str) -> bool:
    return response.lstrip().lower().startswith(("hello", "hi ", "dear"))


async def signs_off(example: dict, prompt: str, response: str) -> bool:
    return response.rstrip().endswith("Your bakers")


async def no_apology(example: dict, prompt: str, response: str) -> bool:
    phrases = ["sorry", "unfortunately", "apologize", "regret"]
    return not any(phrase in response.lower() for phrase in phrases)


async def all_sections(example: dict, prompt: str, response: str) -> bool:
    return all(s in response for s in ["Order", "Delivery"])


async def any_keyword(example: dict, prompt: str, response: str) -> bool:
    return any(word in response.lower() for word in ("bread", "cake", "roll"))


async def keywords_of_example(example: dict, prompt: str, response: str) -> bool:
    return all(item in response for item in example.get("items", []))


async def names_in_order(example: dict, prompt: str, response: str) -> bool:
    first = response.find("Order")
    second = response.find("Delivery")
    return first != -1 and second != -1 and first < second


async def index_raises(example: dict, prompt: str, response: str) -> bool:
    return response.index("Order") < response.index("Delivery")


async def rfind_last(example: dict, prompt: str, response: str) -> bool:
    return response.rfind(".") == len(response) - 1


async def forbidden_words(example: dict, prompt: str, response: str):
    for word in ["guarantee", "always", "never"]:
        if word in response:
            return False
    return True


async def no_template_variable(example: dict, prompt: str, response: str) -> bool:
    return "{" not in response and "}" not in response


async def not_the_prompt(example: dict, prompt: str, response: str) -> bool:
    return prompt not in response


async def prompt_has_question(example: dict, prompt: str, response: str) -> bool:
    return example["question"] in prompt and response != example["question"]


async def quotes_balanced(example: dict, prompt: str, response: str) -> bool:
    return response.count('"') % 2 == 0


async def f_string_greeting(example: dict, prompt: str, response: str) -> bool:
    return f"Dear {example['name']}" in response


async def f_string_format(example: dict, prompt: str, response: str) -> bool:
    price = example.get("price", 0)
    return f"{price:.2f}" in response or f"{price!r}" in response


async def percent_format(example: dict, prompt: str, response: str) -> bool:
    return "%s," % example["name"] in response


async def str_format(example: dict, prompt: str, response: str) -> bool:
    return "{} {}".format("Dear", example["name"]) in response


# Structure.

async def is_json(example: dict, prompt: str, response: str) -> bool:
    try:
        json.loads(response)
        return True
    except ValueError:
        return False


async def json_keys(example: dict, prompt: str, response: str) -> bool:
    try:
        data = json.loads(response)
    except json.JSONDecodeError:
        return False
    return isinstance(data, dict) and {"answer", "source"} <= set(data.keys())


async def throws_on_prose(example: dict, prompt: str, response: str) -> bool:
    return json.loads(response)["answer"] != ""


async def starts_with_heading(example: dict, prompt: str, response: str) -> bool:
    return re.match(r"#{1,3} \w", response) is not None


async def has_table(example: dict, prompt: str, response: str) -> bool:
    return bool(re.search(r"^\|.+\|$", response, re.MULTILINE))


async def no_links(example: dict, prompt: str, response: str) -> bool:
    return re.search(r"https?://\S+", response, flags=re.IGNORECASE) is None


async def dates_are_iso(example: dict, prompt: str, response: str) -> bool:
    for found in re.findall(r"\d{4}-\d{2}-\d{2}", response):
        try:
            datetime.strptime(found, "%Y-%m-%d")
        except ValueError:
            return False
    return True


async def named_groups(example: dict, prompt: str, response: str) -> bool:
    m = re.search(r"(?P<amount>\d+(?:\.\d\d)?) (?P<unit>euros?|EUR)", response)
    return m is None or float(m.group("amount")) < 1000


async def lookbehind(example: dict, prompt: str, response: str) -> bool:
    return len(re.findall(r"(?<=\$)\d+", response)) == 0


async def substituted(example: dict, prompt: str, response: str) -> bool:
    plain = re.sub(r"[*_`#]", "", response)
    return plain == response


async def section_between(example: dict, prompt: str, response: str) -> bool:
    start = response.find("Order:")
    end = response.find("Delivery:")
    if start == -1 or end == -1:
        return False
    section = response[start + len("Order:"):end].strip()
    return 0 < len(section.split()) <= 20


async def lines_end_with_period(example: dict, prompt: str, response: str) -> bool:
    return all(line.endswith((".", "!", "?")) for line in response.splitlines() if line)


async def zip_of_lines(example: dict, prompt: str, response: str) -> bool:
    lines = response.splitlines()
    return all(a != b for a, b in zip(lines, lines[1:]))


async def enumerated(example: dict, prompt: str, response: str) -> bool:
    for i, line in enumerate(l for l in response.split("\n") if re.match(r"\d+\.", l)):
        if not line.startswith(f"{i + 1}."):
            return False
    return True


async def no_emoji(example: dict, prompt: str, response: str) -> bool:
    return not any(0x1F300 <= ord(ch) <= 0x1FAFF for ch in response)


async def ascii_only(example: dict, prompt: str, response: str) -> bool:
    return response.isascii()


async def mostly_letters(example: dict, prompt: str, response: str) -> bool:
    letters = sum(ch in string.ascii_letters + string.whitespace for ch in response)
    return letters >= 0.8 * len(response)


async def has_capital(example: dict, prompt: str, response: str) -> bool:
    first = response.strip()[:1]
    return first == first.upper() and first != first.lower()


async def walrus(example: dict, prompt: str, response: str) -> bool:
    return (n := len(response.split())) > 3 and n % 2 in (0, 1)


async def matched(example: dict, prompt: str, response: str) -> bool:
    kinds = {"short": 20, "long": 100}
    limit = kinds.get(example.get("kind", "long"), math.inf)
    return len(response.split()) < limit


async def nested_function(example: dict, prompt: str, response: str) -> bool:
    def clean(text):
        return text.strip().casefold()

    return clean(example["name"]) in clean(response)


async def with_lambda(example: dict, prompt: str, response: str) -> bool:
    longest = max(response.split() or [""], key=lambda w: len(w))
    return len(longest) < 25


async def chained(example: dict, prompt: str, response: str) -> bool:
    return 0 < len(response) < 2000 != len(prompt)


async def local_import(example: dict, prompt: str, response: str) -> bool:
    import unicodedata
    return unicodedata.normalize("NFC", response) == response


async def raises_key_error(example: dict, prompt: str, response: str) -> bool:
    return example["no such key"] in response


async def returns_none(example: dict, prompt: str, response: str):
    if "never here" in response:
        return True


async def returns_text(example: dict, prompt: str, response: str):
    return "yes"


async def returns_match(example: dict, prompt: str, response: str):
    return re.search("bread", response)


async def runs_the_response(example: dict, prompt: str, response: str) -> bool:
    try:
        exec(response)
    except Exception:
        return False
    return True


def plain_function(example: dict, prompt: str, response: str) -> bool:
    return "bread" in response


# Questions.

async def polite(example: dict, prompt: str, response: str) -> bool:
    return await ask_llm(prompt, response, "Is the response polite?")


async def asks_about_example(example: dict, prompt: str, response: str) -> bool:
    question = f"Does the response answer the question '{example['question']}'?"
    return await ask_llm(prompt, response, question)


async def not_rude(example: dict, prompt: str, response: str) -> bool:
    return not await ask_llm(prompt, response, "Is the response rude?")


async def short_or_polite(example: dict, prompt: str, response: str) -> bool:
    if len(response.split()) < 10:
        return True
    return await ask_llm(prompt, response, "Is the response polite?")


async def asks_in_if(example: dict, prompt: str, response: str) -> bool:
    if await ask_llm(prompt, response, "Does the response mention bread?"):
        return "bread" in response.lower()
    return True


async def asks_with_and(example: dict, prompt: str, response: str) -> bool:
    return "bread" in response and await ask_llm(prompt, response, "Is it about bread?")


async def asks_with_or(example: dict, prompt: str, response: str) -> bool:
    return await ask_llm(prompt, response, "Is it about cake?") or "cake" in response


async def asks_twice(example: dict, prompt: str, response: str) -> bool:
    first = await ask_llm(prompt, response, "Is the response polite?")
    second = await ask_llm(prompt, response, "Is the response complete?")
    return first and second


async def asks_in_loop(example: dict, prompt: str, response: str) -> bool:
    for topic in ["bread", "cake"]:
        if not await ask_llm(prompt, response, f"Is it about {topic}?"):
            return False
    return True


async def asks_together(example: dict, prompt: str, response: str) -> bool:
    import asyncio
    answers = await asyncio.gather(*(ask_llm(prompt, response, f"Is it about {t}?") for t in ("bread", "cake", "tea")))
    return any(answers)


async def asks_and_compares(example: dict, prompt: str, response: str) -> bool:
    return (await ask_llm(prompt, response, "Is the response polite?")) is True


def asks_without_await(example: dict, prompt: str, response: str) -> bool:
    return ask_llm(prompt, response, "Is the response polite?")
