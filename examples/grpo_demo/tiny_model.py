"""A chat model that fits a CPU: a Llama of 0.3 million parameters, made and warm-started on the spot.

It knows forty prompts and answers them badly (see `warm_start.py`): enough for GRPO to have
something to improve, within minutes. It is saved as an ordinary transformers folder, so that the
trainer loads it like any other model.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tasks import TASKS
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn.utils.rnn import pad_sequence
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from warm_start import Example, examples

__all__ = ["WarmStart", "warm_started"]

PAD, START, END = "<|pad|>", "<|im_start|>", "<|im_end|>"
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NOT_LEARNT = -100
"""The label that transformers leaves out of the loss."""

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class WarmStart:
    """What the warm-started model depends on: equal values give the same weights, bit for bit."""

    seed: int = 0
    steps: int = 200
    batch: int = 32
    learning_rate: float = 4e-3
    hidden: int = 96
    layers: int = 2
    heads: int = 4
    vocabulary: int = 720

    def key(self, corpus: Sequence[Example]) -> str:
        """A name for the cached model that changes with anything that changes the model."""
        everything = repr((self, corpus, CHAT_TEMPLATE, torch.__version__))
        return hashlib.sha256(everything.encode()).hexdigest()[:12]


DEFAULT = WarmStart()


def warm_started(cache: Path, recipe: WarmStart = DEFAULT, report: Report = print) -> Path:
    """Return the folder of the warm-started model; make it when the cache does not hold it yet."""
    corpus = list(examples(TASKS, recipe.steps * recipe.batch, recipe.seed))
    folder = cache / f"tiny-{recipe.key(corpus)}"
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=cache))
        try:
            make(unfinished, corpus, recipe, report)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def make(folder: Path, corpus: Sequence[Example], recipe: WarmStart, report: Report) -> None:
    """Train tokenizer and model on the corpus and save both."""
    torch.manual_seed(recipe.seed)
    tokenizer = make_tokenizer(corpus, recipe.vocabulary)
    model = make_model(tokenizer, recipe)
    imitate(model, tokenizer, corpus, recipe, report)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def make_tokenizer(corpus: Sequence[Example], vocabulary: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer trained on the corpus: any text, short sequences for these."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PAD, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator((["user", "assistant", *example] for example in corpus), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        pad_token=PAD,
        eos_token=END,
        additional_special_tokens=[START],
        chat_template=CHAT_TEMPLATE,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def make_model(tokenizer: PreTrainedTokenizerFast, recipe: WarmStart) -> LlamaForCausalLM:
    """A Llama with random weights."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=recipe.hidden,
            intermediate_size=3 * recipe.hidden,
            num_hidden_layers=recipe.layers,
            num_attention_heads=recipe.heads,
            max_position_embeddings=256,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


def imitate(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    corpus: Sequence[Example],
    recipe: WarmStart,
    report: Report,
) -> None:
    """Plain supervised training on the answers, one pass over the corpus."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.learning_rate, total_steps=recipe.steps)
    encoded = [encode(tokenizer, example) for example in corpus]
    model.train()
    for step in range(recipe.steps):
        loss = model(**padded(encoded[step * recipe.batch : (step + 1) * recipe.batch])).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if (step + 1) % 50 == 0:
            report(f"  warm start: step {step + 1} of {recipe.steps}, loss {loss.item():.2f}")


def encode(tokenizer: PreTrainedTokenizerFast, example: Example) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and labels of one example; only the answer is learnt."""
    prompt, completion = example
    chat = [{"role": "user", "content": prompt}]
    question = tokenizer(tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True))
    answer = tokenizer(completion + END)
    ids = question.input_ids + answer.input_ids
    return torch.tensor(ids), torch.tensor([NOT_LEARNT] * len(question.input_ids) + answer.input_ids)


def padded(batch: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """One rectangular batch; in a causal model what follows the answer does not touch it."""
    ids, labels = map(list, zip(*batch, strict=True))
    return {
        "input_ids": pad_sequence(ids, batch_first=True),
        "labels": pad_sequence(labels, batch_first=True, padding_value=NOT_LEARNT),
    }
