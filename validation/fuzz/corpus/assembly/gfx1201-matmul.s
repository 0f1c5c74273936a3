	.amdgcn_target "amdgpu12.01-amd-amdhsa-unknown-gfx1201"
	.amdhsa_code_object_version 5
	.text
	.globl	matmul
	.p2align	8
	.type	matmul,@function
matmul:
.Lfunc_begin0:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_and_b32_e32 v22, 31, v0
	s_bfe_u32 s0, ttmp8, 0x50019
	v_lshlrev_b32_e32 v13, 3, v0
	s_lshl_b32 s16, s0, 5
	v_or_b32_e32 v9, s16, v22
	s_and_b32 s2, s0, 0x1fffe0
	v_bfe_u32 v1, v9, 2, 5
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	s_wait_kmcnt 0x0
	v_mul_lo_u32 v2, s11, v1
	s_mul_i32 s0, s11, s1
	s_add_co_i32 s17, s11, 31
	s_mov_b64 s[12:13], s[6:7]
	s_wait_alu depctr_sa_sdst(0)
	s_cmp_gt_i32 s17, 31
	s_mov_b32 s7, 0x31027000
	v_add3_u32 v18, v2, v24, s0
	s_cselect_b32 s0, -1, 0
	s_cmp_lt_i32 s17, 64
	v_cndmask_b32_e64 v1, 0x80000000, v20, s0
	buffer_load_b128 v[25:28], v1, s[4:7], null offen
	v_mov_b32_e32 v1, 0
	v_dual_mov_b32 v8, v1 :: v_dual_and_b32 v11, 16, v0
	v_xor_b32_e32 v15, v14, v7
	v_add_nc_u32_e32 v16, 0, v14
	s_wait_loadcnt 0x1
	ds_store_b128 v15, v[25:28]
	s_cbranch_scc1 .LBB0_8
	v_lshl_add_u32 v1, s10, 6, v19
	s_wait_loadcnt_dscnt 0x0
	s_barrier_signal -1
	s_barrier_wait -1
	global_inv scope:SCOPE_SE
	ds_load_u16_d16 v33, v19 offset:2048
	v_or3_b32 v1, s14, v12, v2
	s_lshr_b32 s14, s17, 5
	s_cmp_eq_u32 s14, 2
	ds_load_b128 v[41:44], v20
	s_wait_dscnt 0x9
	ds_load_u16_d16_hi v33, v19 offset:2112
	v_wmma_f32_16x16x16_f16 v[1:8], v[33:36], v[41:44], 0
	s_cbranch_scc1 .LBB0_8
	s_cbranch_scc1 .LBB0_6
	s_sub_co_i32 s19, 0, s14
	v_mad_co_u64_u32 v[22:23], null, s10, v23, s[2:3]
	v_add_lshl_u32 v0, v22, v24, 1
.LBB0_4:
	s_cmp_lg_u32 s20, -1
	s_cbranch_scc1 .LBB0_4
	s_bitcmp1_b32 s17, 5
	s_cbranch_vccnz .LBB0_7
	s_branch .LBB0_8
.LBB0_6:
	s_cbranch_execz .LBB0_8
.LBB0_7:
.LBB0_8:
	s_cbranch_scc1 .LBB0_10
	v_xad_u32 v11, v11, 32, 0
.LBB0_10:
	v_lshrrev_b32_e32 v0, 1, v9
	v_and_or_b32 v10, v0, 24, s2
	v_cvt_f16_f32_e32 v0.l, v1
	buffer_store_b128 v[0:3], v4, s[8:11], null offen
	s_endpgm
.Lfunc_end0:
	.size	matmul, .Lfunc_end0-matmul
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel matmul
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 48
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 64
		.amdhsa_next_free_sgpr 21
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_inst_pref_size ((instprefsize(.Lfunc_end0-matmul)<<4)&4080)>>4
		.amdhsa_round_robin_scheduling 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
	.set .Lmatmul.num_vgpr, 64
	.set .Lmatmul.num_agpr, 0
	.set .Lmatmul.numbered_sgpr, 21
	.set .Lmatmul.num_named_barrier, 0
	.set .Lmatmul.private_seg_size, 0
	.set .Lmatmul.uses_vcc, 1
	.set .Lmatmul.uses_flat_scratch, 0
	.set .Lmatmul.has_dyn_sized_stack, 0
	.set .Lmatmul.has_recursion, 0
	.set .Lmatmul.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
	.text
	.p2alignl 7, 3214868480
	.fill 96, 4, 3214868480
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
  - .args:
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
    .max_flat_workgroup_size: 128
    .name:           matmul
    .private_segment_fixed_size: 0
    .sgpr_count:     23
    .sgpr_spill_count: 0
    .symbol:         matmul.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     64
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
amdhsa.target:   amdgpu12.01-amd-amdhsa-unknown-gfx1201
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
