	.amdgcn_target "amdgpu12.50-amd-amdhsa-unknown-gfx1250"
	.amdhsa_code_object_version 5
	.text
	.globl	matmul
	.p2align	8
	.type	matmul,@function
matmul:
.Lfunc_begin0:
	s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 1
	s_mov_b64 s[64:65], 0
	v_nop
	global_prefetch_b8 v0, s[64:65] scope:SCOPE_SE
	s_bfe_u32 s2, ttmp8, 0x50019
	s_load_b256 s[4:11], s[0:1], 0x0 nv
	s_lshl_b32 s14, s2, 5
	v_dual_lshlrev_b32 v3, 3, v0 :: v_dual_bitop2_b32 v23, 31, v0 bitop3:0x40
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_and_b32_e32 v22, 24, v3
	v_bfe_u32 v3, v12, 2, 5
	v_lshlrev_b32_e32 v4, 4, v12
	s_wait_xcnt 0x0
	s_wait_kmcnt 0x0
	v_mad_u32 v6, s11, v3, v22
	v_mul_lo_u32 v3, s10, v3
	v_lshl_add_u32 v18, v4, 4, v5
	v_ashrrev_i32_e32 v9, 31, v8
	v_add3_u32 v14, 0, v18, 0x11e0
	v_add_nc_u32_e32 v15, 0, v19
	s_and_b32 s2, s0, 0x1fffe0
	s_add_co_i32 s12, s11, 31
	v_lshl_add_u64 v[4:5], v[8:9], 1, s[4:5]
	s_cmp_gt_i32 s12, 31
	s_cselect_b32 s0, -1, 0
	s_mov_b32 s13, 0
	v_cndmask_b32_e64 v3, 0x7fffffff, v14, s0
	s_wait_alu depctr_va_vdst(1)
	global_load_async_to_lds_b128 v3, v[4:5], off
	s_cbranch_scc1 .LBB0_2
	v_and_or_b32 v5, v1, 16, v5
	v_or3_b32 v15, v5, s3, v4
	v_lshrrev_b32_e32 v4, 3, v15
	s_branch .LBB0_3
.LBB0_2:
.LBB0_3:
	s_cmp_lg_u32 s15, 1
	s_cbranch_scc1 .LBB0_8
	v_lshl_or_b32 v20, s3, 4, v16
	s_lshr_b32 s16, s12, 5
	s_cmp_lt_u32 s15, 3
	s_cbranch_scc1 .LBB0_9
	v_mov_b32_e32 v0, 0
	s_movk_i32 s15, 0x11e0
	v_dual_mov_b32 v1, v0 :: v_dual_mov_b32 v2, v0
.LBB0_6:
	s_wait_asynccnt 0x0
	s_barrier_signal -1
	s_cmp_lt_i32 s13, 2
	s_or_b32 s19, s15, 32
	v_dual_ashrrev_i32 v25, 31, v24 :: v_dual_ashrrev_i32 v27, 31, v26
	s_barrier_wait -1
	v_dual_add_nc_u32 v34, s20, v19 :: v_dual_add_nc_u32 v27, s19, v20
	ds_load_b128 v[24:27], v9
	s_addk_co_i32 s15, 0x60
	s_wait_dscnt 0x0
	ds_load_tr16_b128 v[32:35], v11
	v_wmma_f32_16x16x32_f16 v[0:7], v[32:39], v[24:31], v[0:7]
	s_cbranch_scc1 .LBB0_6
	s_cbranch_vccnz .LBB0_10
	s_branch .LBB0_12
.LBB0_8:
	s_branch .LBB0_12
.LBB0_9:
	s_cbranch_vccz .LBB0_12
.LBB0_10:
.LBB0_11:
	s_cbranch_scc1 .LBB0_11
.LBB0_12:
	s_cbranch_scc1 .LBB0_14
	v_dual_lshrrev_b32 v10, 4, v9 :: v_dual_add_nc_u32 v9, s15, v9
.LBB0_14:
	v_cvt_pk_f16_f32 v0, v0, v1
	s_or_b64 s[4:5], s[8:9], 0xfc00000000000000
	v_add_lshl_u32 v4, v4, v5, 1
	buffer_store_b128 v[0:3], v4, s[4:7], null offen
	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
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
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 71
		.amdhsa_next_free_sgpr 66
		.amdhsa_named_barrier_count 0
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_fp16_overflow 0
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
	.set .Lmatmul.num_vgpr, 71
	.set .Lmatmul.num_agpr, 0
	.set .Lmatmul.numbered_sgpr, 66
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
    .sgpr_count:     68
    .sgpr_spill_count: 0
    .symbol:         matmul.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     71
    .vgpr_spill_count: 0
    .wavefront_size: 32
amdhsa.target:   amdgpu12.50-amd-amdhsa-unknown-gfx1250
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
