"""Values that come out of programs: decoding them safely, and the rules of equality."""

from codereward.values.equality import identical, json_equal
from codereward.values.json import UNEQUAL, Undecodable, Unequal, decode_json, plain_json

__all__ = ["UNEQUAL", "Undecodable", "Unequal", "decode_json", "identical", "json_equal", "plain_json"]
