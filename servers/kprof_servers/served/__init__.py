"""Find the tuned files that a server looks for when it serves a model, predict times, and propose configurations."""
