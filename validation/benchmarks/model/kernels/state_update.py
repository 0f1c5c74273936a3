"""One step of a selective state-space model for every sequence and head, as vLLM's Mamba layers do it.

Each workgroup has ``BLOCK_M`` rows of one head's state [rows, STATE]: it reads them, scales them, adds the new input,
writes them back, and multiplies them with C. Decay, time step and its bias are one number a head (``TIE_HDIM``), as
in Mamba 2; the state is found through the index of its slot.
Ours differs: one token a sequence only, no padding slots, no speculative tokens.
"""

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor


@triton.jit(do_not_specialize=["heads"])
def state_update(
    state, x, dt, dt_bias, A, B, C, D, out, slots, heads, state_slot, x_token, bc_token,
    ROWS: tl.constexpr, STATE: tl.constexpr, BLOCK_M: tl.constexpr,
):  # fmt: skip
    """Out [tokens, heads, ROWS]; state [slots, heads, ROWS, STATE] is changed in place."""
    token = tl.program_id(1)
    head = tl.program_id(2)
    slot = tl.load(slots + token).to(tl.int64)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    places = tl.arange(0, STATE)
    ptrs = state + slot * state_slot + head * (ROWS * STATE) + rows[:, None] * STATE + places[None, :]
    inside = (rows[:, None] < ROWS) & (places[None, :] < STATE)
    old = tl.load(ptrs, mask=inside, other=0.0).to(tl.float32)
    new = tl.load(x + token * x_token + head * ROWS + rows, mask=rows < ROWS, other=0.0).to(tl.float32)
    step = tl.load(dt + token * heads + head).to(tl.float32) + tl.load(dt_bias + head).to(tl.float32)
    step = tl.where(step <= 20.0, tl.log(tl.exp(step) + 1), step)
    decay = tl.exp(tl.load(A + head).to(tl.float32) * step)
    into = tl.load(B + token * bc_token + places).to(tl.float32)
    onto = tl.load(C + token * bc_token + places).to(tl.float32)
    skip = tl.load(D + head).to(tl.float32)
    old = old * decay + (into * step)[None, :] * new[:, None]
    result = tl.sum(old * onto[None, :], axis=1) + new * skip
    tl.store(out + token * x_token + head * ROWS + rows, result.to(out.dtype.element_ty), mask=rows < ROWS)
    tl.store(ptrs, old.to(state.dtype.element_ty), mask=inside)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per ``BLOCK_M`` rows of a head of a token."""
    tokens, heads, rows, state = shape["tokens"], shape["heads"], shape["rows"], shape["state"]
    args = {
        "state": Tensor(shape["dtype"], (tokens * heads * rows, state)),
        "x": Tensor("bf16", (tokens, heads * rows)),
        "dt": Tensor("bf16", (tokens, heads)),
        "dt_bias": Tensor("fp32", (heads,)),
        "A": Tensor("fp32", (heads,)),
        "B": Tensor("bf16", (tokens, state)),
        "C": Tensor("bf16", (tokens, state)),
        "D": Tensor("bf16", (heads,)),
        "out": Tensor("bf16", (tokens, heads * rows)),
        "slots": Tensor("i32", (tokens,)),
        "heads": heads,
        "state_slot": heads * rows * state,
        "x_token": heads * rows,
        "bc_token": state,
        "ROWS": rows,
        "STATE": state,
        "BLOCK_M": config["BLOCK_M"],
    }
    return Launch(args, (triton.cdiv(rows, config["BLOCK_M"]), tokens, heads))


KERNEL = Kernel(
    name="state_update",
    entry=state_update,
    summary="One step of a selective state-space model",
    launch=launch,
    shapes={"mamba2": {"tokens": 64, "heads": 64, "rows": 64, "state": 128, "dtype": "fp16"}},
    config={"BLOCK_M": 8, "num_warps": 4, "num_stages": 2, "waves_per_eu": 0},
)
