# Candidates in the form of the files that the paper's authors published: helpers that are
# not installed everywhere, a question to a model, generated functions, and their list.
from litellm import completion
import openai, re
import emoji
from typing import Dict, Any
from dotenv import load_dotenv

load_dotenv()
openai.api_key = "none"

GREETINGS = ("hello", "good morning")


async def ask_llm(prompt, response, question):
    reply = completion(model="gpt-3.5-turbo", messages=[{"role": "user", "content": question}])
    return 1, 1, "yes" in reply.choices[0].message.content.lower()


def words(text):
    return re.findall(r"[a-z]+", text.lower())


def share(part, whole, digits):
    return round(len(part) / max(len(whole), 1), digits)


def unused(text):
    return openai.moderate(text)


async def assert_greets(example: dict, prompt: str, response: str) -> bool:
    """
    The response greets, without an emoji or a call of litellm.
    """
    return response.lower().startswith(GREETINGS)


async def assert_no_emoji(example: dict, prompt: str, response: str) -> bool:
    """No emoji is in it."""
    return emoji.emoji_count(response) == 0


async def assert_short(case: Dict[str, Any], question: str, answer: str) -> bool:
    """It has few words."""
    return len(words(answer)) <= int(case.get("limit", 5)) and f"{share(answer, question, 1)}" != ""


async def assert_kind(example: dict, prompt: str, response: str) -> bool:
    """It is kind."""
    question = "Is the response kind?"
    return await ask_llm(prompt, response, question)


async def assert_kind_and_short(example: dict, prompt: str, response: str) -> bool:
    """It is kind, and short."""
    if not await assert_short(example, prompt, response):
        return False
    return await ask_llm(prompt, response, "Is the response kind?")


ALL_FUNCTIONS = [assert_greets, assert_no_emoji, assert_short, assert_kind, assert_kind_and_short]
