"""Which tuned files a server looks for when it serves a model, and which of them are there."""
