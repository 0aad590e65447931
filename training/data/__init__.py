"""Training conversations made by code, each with a verified right answer.

``mix.Mix`` draws documents from every family; the other modules are the families and what they share.
Nothing here comes from a test set: texts are grammars of our own, word lists, WordNet glosses and the
results of really running the shipped tools.
"""
