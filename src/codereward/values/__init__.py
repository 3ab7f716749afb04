"""Values that come out of programs: decoding them safely, and the rules of equality."""

from codereward.values.comparators import Close, unordered_equal, value_comparator
from codereward.values.equality import identical, json_equal
from codereward.values.json import UNEQUAL, Undecodable, Unequal, decode_json, plain_json, strict_json

__all__ = [
    "UNEQUAL",
    "Close",
    "Undecodable",
    "Unequal",
    "decode_json",
    "identical",
    "json_equal",
    "plain_json",
    "strict_json",
    "unordered_equal",
    "value_comparator",
]
