"""The paper reproduced: its experiments, figures and claims, with tight, exact and honest versions beside the printed.

Everything here is simulation, from a seed: nothing that it makes is a release, and nothing has a guarantee.
"""
