"""transformers: a small random Llama and Mixtral, each forward, backward and generate, without compiling."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, MixtralConfig, MixtralForCausalLM

SIZES = {
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "vocab_size": 1024,
}
tokens = torch.randint(0, 1024, (2, 64), device="cuda")
for kind, config in (
    (LlamaForCausalLM, LlamaConfig(**SIZES)),
    (MixtralForCausalLM, MixtralConfig(**SIZES, num_local_experts=4)),
):
    model = kind(config).to("cuda", torch.bfloat16)
    model(input_ids=tokens, labels=tokens).loss.backward()
    made = model.generate(tokens, max_new_tokens=4, do_sample=False, pad_token_id=0)
    print(kind.__name__, tuple(made.shape))
