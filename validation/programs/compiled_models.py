"""torch, transformers: torch.compile of a small random Llama and a small random Mixtral, forward and backward."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, MixtralConfig, MixtralForCausalLM

SIZES = {
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 1,
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
    try:
        torch.compile(model)(input_ids=tokens, labels=tokens).loss.backward()
    except Exception as error:  # noqa: BLE001  # one model's failure is a line of the page
        print(f"failed {kind.__name__}: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
