"""cut-cross-entropy: linear cross entropy without logits, forward and backward, vocabularies of 4,096 and 128,256."""

import torch
from cut_cross_entropy import linear_cross_entropy

for vocabulary in (4096, 128256):
    embedding = torch.randn(2, 512, 1024, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    classifier = torch.randn(vocabulary, 1024, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    labels = torch.randint(0, vocabulary, (2, 512), device="cuda")
    linear_cross_entropy(embedding, classifier, labels, shift=True).backward()
    assert embedding.grad.shape == embedding.shape
    assert classifier.grad.shape == classifier.shape
