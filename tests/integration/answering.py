"""A language model whose every token is a whole answer: real training, real extraction, no waiting.

One sampled token of a model with random weights is a complete completion, so that a test decides
which answers occur and needs neither a hub nor a trained model. The heavy libraries are imported
by those who call, not by those who collect tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

__all__ = ["PYTHON", "RIGHT", "SNIPPETS", "answering_model", "fenced"]

PAD, UNKNOWN, END, ASK = "<pad>", "<unk>", "<end>", "<ask>"
CHAT_TEMPLATE = "{% for message in messages %}<ask>{{ message['content'] }}{% endfor %}"


def fenced(code: str) -> str:
    """Code as a completion shows it."""
    return f"Here it is:\n```python\n{code}\n```\n"


RIGHT = fenced("def answer():\n    return 1")
"""The answer that is right where `answer()` should be 1."""

PYTHON = (
    RIGHT,
    fenced("def answer():\n    return 2"),
    fenced("def answer():\n    raise ValueError"),
    fenced("import sys\nsys.exit(0)"),
    "I would rather not.",
)
"""Answers in Python: right, wrong, raising, leaving early, and none."""

SNIPPETS = tuple(fenced(f"return {number}") for number in range(4))
"""Answers for the fake executor: the second is right where 1 is expected."""


def answering_model(
    answers: Sequence[str], seed: int = 0
) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """A model that knows nothing but `answers` and gives any of them to any prompt."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    tokenizer = answering_tokenizer(answers)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=64,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = LlamaForCausalLM(config)
    model.generation_config.suppress_tokens = tokenizer.convert_tokens_to_ids([PAD, UNKNOWN, END, ASK])
    return model, tokenizer


def answering_tokenizer(answers: Sequence[str]) -> PreTrainedTokenizerFast:
    """A tokenizer with one token for each answer, to which all other text is unknown."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: number for number, token in enumerate((PAD, UNKNOWN, END, ASK, *answers))}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token=PAD,
        unk_token=UNKNOWN,
        eos_token=END,
        additional_special_tokens=[ASK],
        chat_template=CHAT_TEMPLATE,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )
