"""Training conversations made by code, each with a right answer that code has verified.

``mix.Mix`` draws documents of all families in the proportions of a stage; ``document.pack`` makes rows of
them; ``encode.Encoder`` writes the same token ids as ``kimi_sdk.protocol.render``. A family builds a
``world.World``: somebody asks (``speech`` puts a core of an intent into a carrier, ``frames`` samples template
lines), tools really run (``shipped``), the assistant answers. ``split`` says which template lines and which
values never occur in training. Nothing here comes from a test set or from another model: texts are grammars
of our own, word lists, WordNet glosses and results of the built-in tools.

| family | module | what |
|---|---|---|
| copy | primitives | repeat, recall, quote, nth item, list to lines, pairs to JSON |
| shipped, renamed | arithmetic units calendar lookups memory folder | the built-in tools, under their own or other names |
| chain | chains chains_kept compose | two and three calls, parallel calls, results kept as notes |
| invented | invented services named | tools that exist nowhere |
| idle | talk | greetings, thanks, nothing fits, something is missing |
| extract, describe, pairs | extraction clauses domains attributes | JSON from a sentence |
| label | labels | one of several words, true or false, a number, a list |
| typed_tools | typed_tools | tools first, then a typed answer |
| look, look_typed | looking view pictures | drawn scenes and numbers, in words and typed |
"""
