	.amdgcn_target "amdgpu9.50-amd-amdhsa-unknown-gfx950"
	.amdhsa_code_object_version 5
	.text
	.globl	matmul
	.p2align	8
	.type	matmul,@function
matmul:
.Lfunc_begin0:
	s_load_dwordx8 s[8:15], s[4:5], 0x0
	s_waitcnt lgkmcnt(0)
	s_branch .LBB0_0
	.p2align	8
.LBB0_0:
	v_and_b32_e32 v1, 0x3ff, v0
	v_readfirstlane_b32 s0, v1
	s_bfe_u32 s18, s0, 0x20006
	v_lshl_or_b32 v4, s18, 6, v3
	v_lshrrev_b32_e32 v5, 4, v4
	v_lshlrev_b32_e32 v7, 1, v1
	s_lshl_b32 s16, s16, 5
	v_or_b32_e32 v6, 16, v5
	s_add_i32 s21, s15, 31
	s_cmp_gt_i32 s21, 31
	v_mad_u64_u32 v[16:17], s[0:1], v5, s14, v[2:3]
	s_cselect_b64 s[0:1], -1, 0
	v_xor_b32_e32 v11, s2, v4
	v_sub_u32_e32 v4, v11, v4
	v_ashrrev_i32_e32 v4, 1, v4
	s_mul_i32 s19, s15, s16
	v_add_u32_e32 v29, v4, v3
	ds_bpermute_b32 v3, v28, v5
	v_cmp_gt_i32_e64 s[2:3], s21, 31
	v_bfrev_b32_e32 v8, 1
	v_lshrrev_b64 v[4:5], v29, s[2:3]
	v_cmp_eq_u32_e32 vcc, 1, v4
	s_mov_b64 s[4:5], s[10:11]
	s_and_b32 s9, s9, 0xffff
	s_mov_b32 s11, 0x27000
	v_cndmask_b32_e32 v3, v8, v3, vcc
	buffer_load_dword v3, s[8:11], 0 offen lds
	v_add_lshl_u32 v9, v16, s17, 1
	v_cndmask_b32_e64 v2, v8, v9, s[0:1]
	s_cbranch_scc1 .LBB0_2
	s_branch .LBB0_3
.LBB0_2:
.LBB0_3:
	s_and_b64 s[2:3], s[2:3], exec
	s_cselect_b32 s2, 1, 0
	s_cmp_lg_u32 s2, 1
	s_cbranch_scc1 .LBB0_8
	s_lshr_b32 s2, s21, 5
	v_bitop3_b32 v1, v26, v27, 48 bitop3:0x6c
	s_cmp_eq_u32 s2, 2
	s_cbranch_scc1 .LBB0_9
	v_mov_b32_e32 v0, 0
	s_movk_i32 s21, 0x10c0
.LBB0_6:
	s_cmp_lt_i32 s23, 2
	s_or_b32 s21, s21, 32
	s_barrier
	ds_read_b128 v[40:43], v33
	v_add3_u32 v35, v35, v23, v24
	ds_read_b64_tr_b16 v[48:49], v35
	v_mfma_f32_32x32x16_f16 v[0:15], v[48:51], v[40:43], v[0:15]
	s_addk_i32 s21, 0x10c0
	s_cbranch_scc1 .LBB0_6
	s_bitcmp1_b32 s2, 0
	s_cbranch_vccnz .LBB0_10
	s_branch .LBB0_11
.LBB0_8:
	s_branch .LBB0_11
.LBB0_9:
	s_cbranch_execz .LBB0_11
.LBB0_10:
	s_lshl1_add_u32 s19, s2, 0
	s_nop 0
.LBB0_11:
	s_cbranch_scc1 .LBB0_13
	v_xad_u32 v16, v18, 32, s21
.LBB0_13:
	v_mul_lo_u32 v17, s14, v17
	v_cvt_pk_f16_f32 v0, v0, v1
	v_permlane32_swap_b32_e32 v0, v2
	buffer_store_dwordx4 v[0:3], v10, s[12:15], 0 offen
	s_endpgm
.Lfunc_end0:
	.size	matmul, .Lfunc_end0-matmul
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel matmul
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 304
		.amdhsa_user_sgpr_count 16
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_kernarg_preload_length 8
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 56
		.amdhsa_next_free_sgpr 29
		.amdhsa_accum_offset 56
		.amdhsa_reserve_vcc 1
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
	.set .Lmatmul.num_vgpr, 56
	.set .Lmatmul.num_agpr, 0
	.set .Lmatmul.numbered_sgpr, 29
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
      - .offset:         48
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         52
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         56
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         60
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         62
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         64
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         66
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         68
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         70
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         88
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         96
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         104
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         112
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         128
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         136
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         144
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         152
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         160
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         168
        .size:           4
        .value_kind:     hidden_dynamic_lds_size
      - .offset:         248
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 304
    .max_flat_workgroup_size: 256
    .name:           matmul
    .private_segment_fixed_size: 0
    .sgpr_count:     35
    .sgpr_spill_count: 0
    .symbol:         matmul.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     56
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgpu9.50-amd-amdhsa-unknown-gfx950
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
