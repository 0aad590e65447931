"""Pixels in, features out: images, K3's preprocessing, and the MoonViT tower. Knows nothing of prompts."""
