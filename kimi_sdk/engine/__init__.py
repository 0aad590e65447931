"""The engine: token ids, image features and masks in; token ids, log-probabilities and states out.

Knows nothing of messages, tools or JSON. Import the rooms you need; this package imports none of them.
"""
