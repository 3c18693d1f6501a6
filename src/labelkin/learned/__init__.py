"""What the paper does not have: the learned evidence weight and what belongs to it."""
