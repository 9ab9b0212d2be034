# Assertions in the forms that models write them: each takes an example, a prompt
# and a response. What plain CPython makes of them is what the sandbox must.
import re
import json
import string
from collections import Counter


async def mentions_keyword(example: dict, prompt: str, response: str) -> bool:
    return "summary" in response.lower()


async def mentions_no_keyword(example: dict, prompt: str, response: str):
    return "summary" not in response


async def mentions_any(example, prompt, response):
    return any(word in response for word in ["Monday", "Tuesday", "Friday"])


async def mentions_all(example, prompt, response):
    return all(word.lower() in response.lower() for word in ("the", "a"))


async def mentions_name(example, prompt, response):
    return example["name"] in response


async def mentions_name_in_any_case(example, prompt, response):
    name = example.get("name", "")
    return name.lower() in response.lower() if name else False


async def mentions_every_item(example, prompt, response):
    return all(item in response for item in example["items"])


async def mentions_most_items(example, prompt, response):
    found = [item for item in example["items"] if item in response]
    return len(found) >= len(example["items"]) / 2


async def starts_with_heading(example, prompt, response):
    return response.strip().startswith("#")


async def starts_with_greeting(example, prompt, response):
    return response.startswith(("Hello", "Hi", "Dear"))


async def ends_with_full_stop(example, prompt, response):
    return response.rstrip().endswith(".")


async def is_not_empty(example, prompt, response):
    return bool(response.strip())


async def word_count(example, prompt, response):
    return 5 <= len(response.split()) <= 50


async def word_count_from_example(example, prompt, response):
    return len(response.split()) <= example["limit"]


async def character_count(example, prompt, response):
    words = response.split()
    return sum(len(w) for w in words) < 200


async def sentence_count(example, prompt, response):
    sentences = [s for s in re.split(r"[.!?]+", response) if s.strip()]
    return len(sentences) <= 3


async def line_count(example, prompt, response):
    return len(response.splitlines()) > 2


async def bullet_count(example, prompt, response):
    bullets = [line for line in response.split("\n") if line.strip().startswith(("-", "*"))]
    return len(bullets) == 3


async def every_line_is_a_bullet(example, prompt, response):
    return all(line.startswith("- ") for line in response.splitlines() if line)


async def numbered_list(example, prompt, response):
    return re.search(r"^\d+\.", response, re.MULTILINE) is not None


async def headings_in_order(example, prompt, response):
    positions = [response.find(h) for h in ("# One", "# Two", "# Three")]
    return -1 not in positions and positions == sorted(positions)


async def section_is_short(example, prompt, response):
    start = response.find("# One")
    end = response.find("# Two")
    if start == -1 or end == -1:
        return False
    return len(response[start:end].split()) < 20


async def last_section(example, prompt, response):
    return response.rsplit("#", 1)[-1].strip() != ""


async def is_json(example, prompt, response):
    try:
        json.loads(response)
        return True
    except ValueError:
        return False


async def is_json_with_keys(example, prompt, response):
    try:
        data = json.loads(response)
    except json.JSONDecodeError:
        return False
    return isinstance(data, dict) and {"name", "age"} <= data.keys()


async def json_number_in_range(example, prompt, response):
    try:
        return 0 <= json.loads(response)["age"] < 150
    except (ValueError, KeyError, TypeError):
        return False


async def has_email(example, prompt, response):
    return bool(re.search(r"[\w.+-]+@[\w-]+\.[\w.]+", response))


async def has_no_email(example, prompt, response):
    return not re.findall(r"\S+@\S+", response)


async def has_date(example, prompt, response):
    match = re.search(r"(\d{4})-(\d{2})-(\d{2})", response)
    return match is not None and 1 <= int(match.group(2)) <= 12


async def has_link(example, prompt, response):
    return re.compile(r"https?://\S+").search(response) is not None


async def has_emoji(example, prompt, response):
    return any(ord(c) > 0x1F000 for c in response)


async def has_no_digits(example, prompt, response):
    return not any(c.isdigit() for c in response)


async def is_ascii(example, prompt, response):
    return response.isascii()


async def is_lower(example, prompt, response):
    return response == response.lower()


async def no_double_spaces(example, prompt, response):
    return "  " not in response


async def no_repeated_word(example, prompt, response):
    words = re.findall(r"\w+", response.lower())
    return all(a != b for a, b in zip(words, words[1:]))


async def most_common_word(example, prompt, response):
    words = [w.strip(string.punctuation).lower() for w in response.split()]
    return Counter(words).most_common(1)[0][0] == "the" if words else False


async def unique_words(example, prompt, response):
    words = response.split()
    return len(set(words)) / max(len(words), 1) > 0.5


async def no_placeholder(example, prompt, response):
    return not any(p in response for p in ["{", "}", "[NAME]", "TODO"])


async def formatted(example, prompt, response):
    expected = f"Dear {example['name']},"
    return response.startswith(expected)


async def formatted_otherwise(example, prompt, response):
    return "{} has {} items".format(example["name"], len(example["items"])) in response


async def percent(example, prompt, response):
    return "%s:" % example["name"] in response


async def prompt_is_answered(example, prompt, response):
    question = prompt.split("?")[0].split()[-1]
    return question.lower() in response.lower()


async def prompt_is_not_repeated(example, prompt, response):
    return prompt not in response


async def enumerated(example, prompt, response):
    for i, line in enumerate(response.splitlines()):
        if i == 1 and not line:
            return True
    return False


async def early_return(example, prompt, response):
    if not response:
        return False
    for word in response.split():
        if len(word) > 25:
            return False
    return True


async def while_loop(example, prompt, response):
    count, at = 0, response.find("the")
    while at != -1:
        count += 1
        at = response.find("the", at + 1)
    return count >= 2


async def nested_function(example, prompt, response):
    def normal(text):
        return " ".join(text.lower().split())

    return normal(response).startswith("the")


async def lambda_and_map(example, prompt, response):
    lengths = list(map(lambda w: len(w), response.split()))
    return max(lengths, default=0) < 15


async def sorted_lines(example, prompt, response):
    lines = response.splitlines()
    return lines == sorted(lines, key=lambda l: l.lower())


async def dictionary_of_counts(example, prompt, response):
    counts = {c: response.count(c) for c in "aeiou"}
    return counts["e"] >= max(counts.values())


async def conditional_on_example(example, prompt, response):
    return "short" in response if example["limit"] < 10 else len(response) > 10


async def walrus(example, prompt, response):
    return (n := len(response)) > 3 and n < 500


async def unpacking(example, prompt, response):
    first, *rest = response.split("\n")
    return len(rest) > 0 and len(first) < 80


async def raises_index_error(example, prompt, response):
    return response.split("\n")[40] == "x"


async def raises_key_error(example, prompt, response):
    return example["missing"] in response


async def returns_nothing(example, prompt, response):
    if "never in any response" in response:
        return True


async def returns_a_match(example, prompt, response):
    return re.search("the", response) and True


async def asks(example, prompt, response):
    return await ask_llm(prompt, response, "Is the answer polite? yes")


async def asks_in_a_condition(example, prompt, response):
    if await ask_llm(prompt, response, "Does it have a list?"):
        return False
    return True


async def asks_negated(example, prompt, response):
    return not await ask_llm(prompt, response, "Is it rude? yes")


async def asks_and_counts(example, prompt, response):
    return len(response) > 3 and await ask_llm(prompt, response, "yes?")


async def asks_or_counts(example, prompt, response):
    return "the" in response or await ask_llm(prompt, response, "no")


async def asks_about_the_example(example, prompt, response):
    question = f"Does the response mention {example['name']}? yes"
    answer = await ask_llm(prompt, response, question)
    return answer


async def asks_about_each(example, prompt, response):
    answers = [await ask_llm(prompt, response, f"Is {item} there? {'yes' if i else 'no'}") for i, item in enumerate(example["items"])]
    return any(answers) and not all(answers)


async def asks_twice(example, prompt, response):
    polite = await ask_llm(prompt, response, "polite? yes")
    short = await ask_llm(prompt, response, "short?")
    return polite and not short


async def asks_and_catches(example, prompt, response):
    try:
        return await ask_llm(prompt, response, "yes") is True
    except Exception:
        return False


async def calls_another(example, prompt, response):
    return await is_not_empty(example, prompt, response) and not await is_json(example, prompt, response)


def plain(example, prompt, response):
    return len(response) > 3


def plain_asks(example, prompt, response):
    return ask_llm(prompt, response, "yes") and not ask_llm(prompt, response, "no")
