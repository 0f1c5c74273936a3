"""liger-kernel, transformers: Llama-8B at its true size, 2,048 tokens, forward, backward, AdamW."""

import torch
from liger_kernel.transformers import apply_liger_kernel_to_llama
from transformers import LlamaConfig, LlamaForCausalLM

apply_liger_kernel_to_llama()
torch.set_default_dtype(torch.bfloat16)
config = LlamaConfig(
    hidden_size=4096,
    intermediate_size=14336,
    num_hidden_layers=32,
    num_attention_heads=32,
    num_key_value_heads=8,
    vocab_size=128256,
    tie_word_embeddings=False,
)
with torch.device("cuda"):
    model = LlamaForCausalLM(config)
tokens = torch.randint(0, 1000, (1, 2048), device="cuda")
model(input_ids=tokens, labels=tokens).loss.backward()
torch.optim.AdamW(model.parameters()).step()
