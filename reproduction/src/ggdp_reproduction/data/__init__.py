"""The adult data, which the paper uses and ggdp does not bundle."""

from ggdp_reproduction.data.adult_data import Adult, adult

__all__ = ["Adult", "adult"]
