"""The beginning of a TTGIR module with a tile of 64 elements, to which tests add what moves it."""

HEAD = """\
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 64 : i32, ttg.target = "hip:gfx942"} {
  tt.func public @k(%x: !tt.ptr<f32>, %n: i32) {
    %c64 = arith.constant 64 : i32
    %c0 = arith.constant 0 : i32
    %pid = tt.get_program_id x : i32
    %lane = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %values = arith.sitofp %lane : tensor<64xi32, #blocked> to tensor<64xf32, #blocked>
"""
