"""Finds the tuned files that a server looks for when it serves a model, and predicts and proposes configurations."""
