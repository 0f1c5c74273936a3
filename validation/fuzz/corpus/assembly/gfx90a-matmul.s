	.amdgcn_target "amdgpu9.0a-amd-amdhsa-unknown-gfx90a"
	.amdhsa_code_object_version 5
	.text
	.globl	matmul
	.p2align	8
	.type	matmul,@function
matmul:
.Lfunc_begin0:
	s_load_dwordx2 s[6:7], s[4:5], 0x0
	s_load_dwordx8 s[8:15], s[4:5], 0x8
	s_waitcnt lgkmcnt(0)
	s_branch .LBB0_0
	.p2align	8
.LBB0_0:
	v_readfirstlane_b32 s14, v0
	s_and_b32 s0, s14, 0xc0
	v_and_or_b32 v3, v0, 63, s0
	s_mov_b64 s[20:21], s[6:7]
	s_lshl_b32 s6, s16, 5
	v_lshrrev_b32_e32 v33, 3, v3
	v_lshlrev_b32_e32 v4, 2, v0
	v_and_b32_e32 v34, 28, v4
	s_add_i32 s2, s13, 31
	s_mul_i32 s0, s13, s6
	v_mul_lo_u32 v1, v33, s13
	s_cmp_gt_i32 s2, 31
	v_add3_u32 v26, v1, v34, s0
	v_bfrev_b32_e32 v1, 1
	s_cselect_b64 s[0:1], -1, 0
	s_mov_b32 s23, 0x27000
	v_cndmask_b32_e64 v5, v1, v2, s[0:1]
	buffer_load_dwordx2 v[6:7], v5, s[20:23], 0 offen
	v_xor_b32_e32 v3, v3, v4
	v_add_u32_e32 v22, 0, v4
	s_cmp_lt_i32 s2, 64
	ds_write_b64 v24, v[6:7]
	s_cbranch_scc1 .LBB0_6
	v_lshl_or_b32 v3, v1, 6, v3
	v_lshl_add_u32 v2, v18, 3, 0
	s_barrier
	ds_read_u16 v2, v25 offset:2048
	ds_read_b64 v[40:41], v27
	v_perm_b32 v37, v6, v5, s3
	v_mfma_f32_32x32x8f16 v[2:17], v[36:37], v[40:41], 0
	s_lshr_b32 s10, s2, 5
	s_cmp_eq_u32 s10, 2
	s_cbranch_scc1 .LBB0_7
	s_cbranch_scc1 .LBB0_10
	v_or_b32_e32 v31, 0x60, v33
	v_add_lshl_u32 v31, v31, v34, 1
	s_sub_i32 s13, 0, s10
.LBB0_4:
	s_cmp_lg_u32 s17, -1
	s_nop 1
	s_cbranch_scc1 .LBB0_4
	s_bitcmp1_b32 s2, 5
	s_and_b64 vcc, exec, s[2:3]
	s_cbranch_vccz .LBB0_7
	s_branch .LBB0_11
.LBB0_6:
	v_mov_b32_e32 v2, 0
.LBB0_7:
	s_cselect_b32 s0, 1, 0
	s_cbranch_scc1 .LBB0_9
	v_xad_u32 v24, v19, 16, 0
.LBB0_9:
	v_cvt_f16_f32_e32 v0, v2
	v_pack_b32_f16 v1, v1, v3
	v_cndmask_b32_e32 v16, v3, v2, vcc
	buffer_store_dwordx2 v[0:1], v16, s[4:7], 0 offen
	s_endpgm
.LBB0_10:
	s_cbranch_execz .LBB0_7
.LBB0_11:
	s_branch .LBB0_7
.Lfunc_end0:
	.size	matmul, .Lfunc_end0-matmul
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel matmul
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 48
		.amdhsa_user_sgpr_count 16
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 10
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 52
		.amdhsa_next_free_sgpr 24
		.amdhsa_accum_offset 52
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 0
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
	.set .Lmatmul.num_vgpr, 52
	.set .Lmatmul.num_agpr, 0
	.set .Lmatmul.numbered_sgpr, 24
	.set .Lmatmul.num_named_barrier, 0
	.set .Lmatmul.private_seg_size, 0
	.set .Lmatmul.uses_vcc, 1
	.set .Lmatmul.uses_flat_scratch, 0
	.set .Lmatmul.has_dyn_sized_stack, 0
	.set .Lmatmul.has_recursion, 0
	.set .Lmatmul.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
	.text
	.p2alignl 6, 3212836864
	.fill 256, 4, 3212836864
	.section	.AMDGPU.gpr_maximums,"",@progbits
	.set amdgpu.max_num_vgpr, 0
	.set amdgpu.max_num_agpr, 0
	.set amdgpu.max_num_sgpr, 0
	.set amdgpu.max_num_named_barrier, 0
	.text
	.section	".note.GNU-stack","",@progbits
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         8
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         16
        .size:           8
        .value_kind:     global_buffer
      - .offset:         24
        .size:           4
        .value_kind:     by_value
      - .offset:         28
        .size:           4
        .value_kind:     by_value
      - .address_space:  global
        .offset:         32
        .size:           8
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         40
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 48
    .max_flat_workgroup_size: 256
    .name:           matmul
    .private_segment_fixed_size: 0
    .sgpr_count:     28
    .sgpr_spill_count: 0
    .symbol:         matmul.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     52
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgpu9.0a-amd-amdhsa-unknown-gfx90a
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
