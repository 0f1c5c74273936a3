	.text
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.amdhsa_code_object_version 5
	.hidden	collatz                         ; -- Begin function collatz
	.globl	collatz
	.p2align	2
	.type	collatz,@function
collatz:                                ; @collatz
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_mov_b32_e32 v1, 0
	s_mov_b32 s0, exec_lo
	v_cmpx_lt_i32_e32 1, v0
	s_cbranch_execz .LBB0_8
; %bb.1:
	s_mov_b32 s1, 0
	s_mov_b32 s2, 0
	s_branch .LBB0_3
	.p2align	6
.LBB0_2:                                ;   in Loop: Header=BB0_3 Depth=1
	s_or_b32 exec_lo, exec_lo, s3
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(SALU_CYCLE_1)
	v_cmp_gt_u32_e32 vcc_lo, 2, v0
	s_add_i32 s2, s2, 1
	v_mov_b32_e32 v1, s2
	s_or_b32 s1, vcc_lo, s1
	s_delay_alu instid0(SALU_CYCLE_1)
	s_and_not1_b32 exec_lo, exec_lo, s1
	s_cbranch_execz .LBB0_7
.LBB0_3:                                ; =>This Inner Loop Header: Depth=1
	v_and_b32_e32 v1, 1, v0
	s_mov_b32 s3, exec_lo
	s_delay_alu instid0(VALU_DEP_1)
	v_cmpx_eq_u32_e32 1, v1
	s_xor_b32 s3, exec_lo, s3
; %bb.4:                                ;   in Loop: Header=BB0_3 Depth=1
	v_mad_u64_u32 v[1:2], null, v0, 3, 1
	s_delay_alu instid0(VALU_DEP_1)
	v_mov_b32_e32 v0, v1
; %bb.5:                                ;   in Loop: Header=BB0_3 Depth=1
	s_and_not1_saveexec_b32 s3, s3
	s_cbranch_execz .LBB0_2
; %bb.6:                                ;   in Loop: Header=BB0_3 Depth=1
	s_delay_alu instid0(VALU_DEP_1)
	v_lshrrev_b32_e32 v0, 1, v0
	s_branch .LBB0_2
.LBB0_7:
	s_or_b32 exec_lo, exec_lo, s1
.LBB0_8:
	s_delay_alu instid0(SALU_CYCLE_1)
	s_or_b32 exec_lo, exec_lo, s0
	v_mov_b32_e32 v0, v1
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.size	collatz, .Lfunc_end0-collatz
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 144
; NumSgprs: 34
; NumVgprs: 3
; ScratchSize: 0
; MemoryBound: 0
	.text
	.protected	transpose               ; -- Begin function transpose
	.globl	transpose
	.p2align	8
	.type	transpose,@function
transpose:                              ; @transpose
; %bb.0:
	s_clause 0x1
	s_load_b128 s[44:47], s[2:3], 0x0
	s_load_b32 s48, s[2:3], 0x10
	v_mov_b32_e32 v40, v0
	s_add_u32 s38, s2, 24
	v_dual_mov_b32 v31, v0 :: v_dual_mov_b32 v0, 0
	s_mov_b64 s[34:35], s[4:5]
	s_addc_u32 s39, s3, 0
	s_mov_b32 s40, s14
	s_mov_b32 s41, s13
	s_mov_b64 s[4:5], s[0:1]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s13
	s_mov_b32 s13, s14
	s_mov_b32 s14, s15
	s_mov_b32 s32, 0
	s_mov_b32 s33, s15
	s_mov_b64 s[36:37], s[0:1]
	s_getpc_b64 s[42:43]
	s_add_u32 s42, s42, _Z12get_local_idj@rel32@lo+4
	s_addc_u32 s43, s43, _Z12get_local_idj@rel32@hi+12
	s_delay_alu instid0(SALU_CYCLE_1)
	s_swappc_b64 s[30:31], s[42:43]
	v_dual_mov_b32 v41, v0 :: v_dual_mov_b32 v0, 1
	v_mov_b32_e32 v31, v40
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_swappc_b64 s[30:31], s[42:43]
	v_mov_b32_e32 v42, v0
	v_dual_mov_b32 v31, v40 :: v_dual_mov_b32 v0, 0
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_getpc_b64 s[42:43]
	s_add_u32 s42, s42, _Z12get_group_idj@rel32@lo+4
	s_addc_u32 s43, s43, _Z12get_group_idj@rel32@hi+12
	s_delay_alu instid0(SALU_CYCLE_1)
	s_swappc_b64 s[30:31], s[42:43]
	v_dual_mov_b32 v0, 1 :: v_dual_lshlrev_b32 v43, 5, v0
	v_mov_b32_e32 v31, v40
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_swappc_b64 s[30:31], s[42:43]
	v_dual_mov_b32 v31, v40 :: v_dual_lshlrev_b32 v44, 5, v0
	s_lshl_b32 s42, s48, 3
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_delay_alu instid0(VALU_DEP_1)
	v_add_nc_u32_e32 v0, v44, v42
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mul_lo_u32 v0, v0, s48
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z7barrierj@rel32@lo+4
	s_addc_u32 s1, s1, _Z7barrierj@rel32@hi+12
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add3_u32 v0, v43, v41, v0
	v_add_nc_u32_e32 v2, s42, v0
	v_ashrrev_i32_e32 v1, 31, v0
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_add_nc_u32_e32 v4, s42, v2
	v_ashrrev_i32_e32 v3, 31, v2
	v_lshlrev_b64 v[0:1], 2, v[0:1]
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_4)
	v_add_nc_u32_e32 v6, s42, v4
	v_ashrrev_i32_e32 v5, 31, v4
	v_lshlrev_b64 v[2:3], 2, v[2:3]
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_add_co_u32 v0, vcc_lo, s46, v0
	v_ashrrev_i32_e32 v7, 31, v6
	s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_2) | instid1(VALU_DEP_4)
	v_lshlrev_b64 v[4:5], 2, v[4:5]
	v_add_co_ci_u32_e32 v1, vcc_lo, s47, v1, vcc_lo
	v_add_co_u32 v2, vcc_lo, s46, v2
	v_lshlrev_b64 v[6:7], 2, v[6:7]
	v_add_co_ci_u32_e32 v3, vcc_lo, s47, v3, vcc_lo
	v_add_co_u32 v4, vcc_lo, s46, v4
	v_add_co_ci_u32_e32 v5, vcc_lo, s47, v5, vcc_lo
	s_delay_alu instid0(VALU_DEP_4)
	v_add_co_u32 v6, vcc_lo, s46, v6
	v_add_co_ci_u32_e32 v7, vcc_lo, s47, v7, vcc_lo
	s_clause 0x3
	global_load_b32 v0, v[0:1], off
	global_load_b32 v1, v[2:3], off
	global_load_b32 v2, v[4:5], off
	global_load_b32 v3, v[6:7], off
	v_mul_lo_u32 v4, 0x84, v42
	s_delay_alu instid0(VALU_DEP_1)
	v_lshl_add_u32 v4, v41, 2, v4
	s_waitcnt vmcnt(3)
	ds_store_b32 v4, v0
	s_waitcnt vmcnt(2)
	ds_store_b32 v4, v1 offset:1056
	s_waitcnt vmcnt(1)
	ds_store_b32 v4, v2 offset:2112
	s_waitcnt vmcnt(0)
	ds_store_b32 v4, v3 offset:3168
	v_mov_b32_e32 v0, 1
	s_swappc_b64 s[30:31], s[0:1]
	v_add_nc_u32_e32 v0, v43, v42
	v_mul_lo_u32 v1, 0x84, v41
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_mul_lo_u32 v0, v0, s48
	v_lshl_add_u32 v5, v42, 2, v1
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_4) | instid1(VALU_DEP_2)
	v_add3_u32 v0, v44, v41, v0
	ds_load_2addr_b32 v[6:7], v5 offset1:8
	ds_load_2addr_b32 v[8:9], v5 offset0:16 offset1:24
	v_add_nc_u32_e32 v2, s42, v0
	v_ashrrev_i32_e32 v1, 31, v0
	v_add_nc_u32_e32 v4, s42, v2
	v_ashrrev_i32_e32 v3, 31, v2
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_lshlrev_b64 v[0:1], 2, v[0:1]
	v_add_nc_u32_e32 v10, s42, v4
	v_ashrrev_i32_e32 v5, 31, v4
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_lshlrev_b64 v[2:3], 2, v[2:3]
	v_add_co_u32 v0, vcc_lo, s44, v0
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_ashrrev_i32_e32 v11, 31, v10
	v_lshlrev_b64 v[4:5], 2, v[4:5]
	v_add_co_ci_u32_e32 v1, vcc_lo, s45, v1, vcc_lo
	v_add_co_u32 v2, vcc_lo, s44, v2
	s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_3) | instid1(VALU_DEP_4)
	v_lshlrev_b64 v[10:11], 2, v[10:11]
	v_add_co_ci_u32_e32 v3, vcc_lo, s45, v3, vcc_lo
	v_add_co_u32 v4, vcc_lo, s44, v4
	v_add_co_ci_u32_e32 v5, vcc_lo, s45, v5, vcc_lo
	v_add_co_u32 v10, vcc_lo, s44, v10
	v_add_co_ci_u32_e32 v11, vcc_lo, s45, v11, vcc_lo
	s_waitcnt lgkmcnt(1)
	s_clause 0x1
	global_store_b32 v[0:1], v6, off
	global_store_b32 v[2:3], v7, off
	s_waitcnt lgkmcnt(0)
	s_clause 0x1
	global_store_b32 v[4:5], v8, off
	global_store_b32 v[10:11], v9, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel transpose
		.amdhsa_group_segment_fixed_size 4224
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 45
		.amdhsa_next_free_sgpr 49
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 0
		.amdhsa_shared_vgpr_count 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end1:
	.size	transpose, .Lfunc_end1-transpose
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 828
; NumSgprs: 51
; NumVgprs: 45
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 4224 bytes/workgroup (compile time only)
; SGPRBlocks: 6
; VGPRBlocks: 5
; NumSGPRsForWavesPerEU: 51
; NumVGPRsForWavesPerEU: 45
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	steps                   ; -- Begin function steps
	.globl	steps
	.p2align	8
	.type	steps,@function
steps:                                  ; @steps
; %bb.0:
	s_load_b128 s[36:39], s[2:3], 0x0
	v_dual_mov_b32 v31, v0 :: v_dual_mov_b32 v0, 0
	s_add_u32 s8, s2, 16
	s_mov_b32 s12, s13
	s_mov_b64 s[10:11], s[4:5]
	s_addc_u32 s9, s3, 0
	s_mov_b64 s[4:5], s[0:1]
	s_mov_b32 s13, s14
	s_mov_b32 s14, s15
	s_mov_b32 s32, 0
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, _Z13get_global_idj@rel32@lo+4
	s_addc_u32 s3, s3, _Z13get_global_idj@rel32@hi+12
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(SKIP_4) | instid1(VALU_DEP_1)
	s_swappc_b64 s[30:31], s[2:3]
	v_ashrrev_i32_e32 v1, 31, v0
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, collatz@rel32@lo+4
	s_addc_u32 s5, s5, collatz@rel32@hi+12
	v_lshlrev_b64 v[5:6], 2, v[0:1]
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_u32 v0, vcc_lo, s38, v5
	v_add_co_ci_u32_e32 v1, vcc_lo, s39, v6, vcc_lo
	global_load_b32 v3, v[0:1], off
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v0, v3
	s_swappc_b64 s[30:31], s[4:5]
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_mov_b32_e32 v4, v0
	v_mul_hi_i32 v0, 0x55555556, v3
	v_lshrrev_b32_e32 v1, 31, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add_nc_u32_e32 v0, v0, v1
	s_swappc_b64 s[30:31], s[4:5]
	v_add_nc_u32_e32 v2, v0, v4
	v_add_co_u32 v0, vcc_lo, s36, v5
	v_add_co_ci_u32_e32 v1, vcc_lo, s37, v6, vcc_lo
	global_store_b32 v[0:1], v2, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel steps
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 40
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 0
		.amdhsa_shared_vgpr_count 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end2:
	.size	steps, .Lfunc_end2-steps
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 208
; NumSgprs: 42
; NumVgprs: 32
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 5
; VGPRBlocks: 3
; NumSGPRsForWavesPerEU: 42
; NumVGPRsForWavesPerEU: 32
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	private_array           ; -- Begin function private_array
	.globl	private_array
	.p2align	8
	.type	private_array,@function
private_array:                          ; @private_array
; %bb.0:
	s_clause 0x1
	s_load_b32 s42, s[2:3], 0x10
	s_load_b128 s[44:47], s[2:3], 0x0
	s_mov_b64 s[36:37], s[0:1]
	s_mov_b64 s[34:35], s[4:5]
	s_mov_b32 s41, s13
	s_mov_b32 s40, s14
	s_mov_b32 s33, s15
	s_mov_b64 s[38:39], s[2:3]
	s_movk_i32 s32, 0x110
	v_mov_b32_e32 v41, 0
	s_waitcnt lgkmcnt(0)
	s_ashr_i32 s43, s42, 31
	s_load_b32 s3, s[44:45], 0x0
	s_lshl_b64 s[0:1], s[42:43], 2
	v_cmp_lt_i64_e64 s2, s[42:43], 1
	s_add_u32 s4, s44, s0
	s_addc_u32 s5, s45, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_add_u32 s8, s6, s0
	s_addc_u32 s9, s7, s1
	s_add_u32 s10, s8, s0
	s_addc_u32 s11, s9, s1
	s_add_u32 s12, s10, s0
	s_addc_u32 s13, s11, s1
	s_add_u32 s14, s12, s0
	s_addc_u32 s15, s13, s1
	s_add_u32 s16, s14, s0
	s_addc_u32 s17, s15, s1
	s_clause 0x5
	s_load_b32 s18, s[4:5], 0x0
	s_load_b32 s19, s[6:7], 0x0
	s_load_b32 s8, s[8:9], 0x0
	s_load_b32 s9, s[10:11], 0x0
	s_load_b32 s10, s[12:13], 0x0
	s_load_b32 s11, s[14:15], 0x0
	s_add_u32 s4, s16, s0
	s_addc_u32 s5, s17, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s13, s[4:5], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_load_b32 s14, s[6:7], 0x0
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s12, s[16:17], 0x0
	s_load_b32 s15, s[4:5], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_load_b32 s16, s[6:7], 0x0
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s17, s[4:5], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_load_b32 s20, s[6:7], 0x0
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s21, s[4:5], 0x0
	s_load_b32 s22, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_waitcnt lgkmcnt(0)
	v_dual_mov_b32 v40, v0 :: v_dual_mov_b32 v1, s18
	v_dual_mov_b32 v0, s3 :: v_dual_mov_b32 v3, s8
	s_load_b32 s3, s[4:5], 0x0
	s_load_b32 s8, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	v_dual_mov_b32 v2, s19 :: v_dual_mov_b32 v5, s10
	v_dual_mov_b32 v4, s9 :: v_dual_mov_b32 v7, s12
	s_load_b32 s9, s[4:5], 0x0
	s_load_b32 s10, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	v_dual_mov_b32 v6, s11 :: v_dual_mov_b32 v9, s14
	s_load_b32 s11, s[4:5], 0x0
	s_load_b32 s12, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	v_dual_mov_b32 v8, s13 :: v_dual_mov_b32 v11, s16
	s_load_b32 s13, s[4:5], 0x0
	s_load_b32 s14, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	v_dual_mov_b32 v10, s15 :: v_dual_mov_b32 v13, s20
	s_load_b32 s15, s[4:5], 0x0
	s_load_b32 s16, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	v_dual_mov_b32 v12, s17 :: v_dual_mov_b32 v15, s22
	s_load_b32 s17, s[4:5], 0x0
	s_load_b32 s18, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s19, s[4:5], 0x0
	s_load_b32 s20, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s4, s[4:5], 0x0
	s_load_b32 s5, s[6:7], 0x0
	v_mov_b32_e32 v14, s21
	s_clause 0x3
	scratch_store_b128 off, v[0:3], off
	scratch_store_b128 off, v[4:7], off offset:16
	scratch_store_b128 off, v[8:11], off offset:32
	scratch_store_b128 off, v[12:15], off offset:48
	s_waitcnt lgkmcnt(0)
	v_dual_mov_b32 v1, s8 :: v_dual_mov_b32 v0, s3
	v_dual_mov_b32 v3, s10 :: v_dual_mov_b32 v2, s9
	v_dual_mov_b32 v5, s12 :: v_dual_mov_b32 v4, s11
	v_dual_mov_b32 v7, s14 :: v_dual_mov_b32 v6, s13
	v_dual_mov_b32 v9, s16 :: v_dual_mov_b32 v8, s15
	v_dual_mov_b32 v11, s18 :: v_dual_mov_b32 v12, s19
	v_dual_mov_b32 v10, s17 :: v_dual_mov_b32 v13, s20
	v_mov_b32_e32 v14, s4
	s_add_u32 s4, s6, s0
	v_mov_b32_e32 v15, s5
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s3, s[4:5], 0x0
	s_load_b32 s8, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s9, s[4:5], 0x0
	s_load_b32 s10, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s11, s[4:5], 0x0
	s_load_b32 s12, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s13, s[4:5], 0x0
	s_load_b32 s14, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s15, s[4:5], 0x0
	s_load_b32 s16, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s17, s[4:5], 0x0
	s_load_b32 s18, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s19, s[4:5], 0x0
	s_load_b32 s20, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s4, s[4:5], 0x0
	s_load_b32 s5, s[6:7], 0x0
	s_clause 0x3
	scratch_store_b128 off, v[0:3], off offset:64
	scratch_store_b128 off, v[4:7], off offset:80
	scratch_store_b128 off, v[8:11], off offset:96
	scratch_store_b128 off, v[12:15], off offset:112
	s_waitcnt lgkmcnt(0)
	v_dual_mov_b32 v1, s8 :: v_dual_mov_b32 v0, s3
	v_dual_mov_b32 v3, s10 :: v_dual_mov_b32 v2, s9
	v_dual_mov_b32 v5, s12 :: v_dual_mov_b32 v4, s11
	v_dual_mov_b32 v7, s14 :: v_dual_mov_b32 v6, s13
	v_dual_mov_b32 v9, s16 :: v_dual_mov_b32 v8, s15
	v_dual_mov_b32 v11, s18 :: v_dual_mov_b32 v10, s17
	v_dual_mov_b32 v12, s19 :: v_dual_mov_b32 v13, s20
	v_mov_b32_e32 v14, s4
	s_add_u32 s4, s6, s0
	v_mov_b32_e32 v15, s5
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s3, s[4:5], 0x0
	s_load_b32 s8, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s9, s[4:5], 0x0
	s_load_b32 s10, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s11, s[4:5], 0x0
	s_load_b32 s12, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s13, s[4:5], 0x0
	s_load_b32 s14, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s15, s[4:5], 0x0
	s_load_b32 s16, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s17, s[4:5], 0x0
	s_load_b32 s18, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s6, s4, s0
	s_addc_u32 s7, s5, s1
	s_load_b32 s19, s[4:5], 0x0
	s_load_b32 s20, s[6:7], 0x0
	s_add_u32 s4, s6, s0
	s_addc_u32 s5, s7, s1
	s_add_u32 s0, s4, s0
	s_addc_u32 s1, s5, s1
	s_load_b32 s4, s[4:5], 0x0
	s_load_b32 s0, s[0:1], 0x0
	s_clause 0x3
	scratch_store_b128 off, v[0:3], off offset:128
	scratch_store_b128 off, v[4:7], off offset:144
	scratch_store_b128 off, v[8:11], off offset:160
	scratch_store_b128 off, v[12:15], off offset:176
	s_waitcnt lgkmcnt(0)
	v_dual_mov_b32 v1, s8 :: v_dual_mov_b32 v0, s3
	v_dual_mov_b32 v3, s10 :: v_dual_mov_b32 v2, s9
	v_dual_mov_b32 v5, s12 :: v_dual_mov_b32 v6, s13
	v_dual_mov_b32 v9, s16 :: v_dual_mov_b32 v8, s15
	v_dual_mov_b32 v11, s18 :: v_dual_mov_b32 v10, s17
	v_dual_mov_b32 v4, s11 :: v_dual_mov_b32 v7, s14
	v_dual_mov_b32 v12, s19 :: v_dual_mov_b32 v13, s20
	s_and_b32 vcc_lo, exec_lo, s2
	s_clause 0x1
	scratch_store_b128 off, v[0:3], off offset:192
	scratch_store_b128 off, v[4:7], off offset:208
	v_dual_mov_b32 v14, s4 :: v_dual_mov_b32 v15, s0
	s_clause 0x1
	scratch_store_b128 off, v[8:11], off offset:224
	scratch_store_b128 off, v[12:15], off offset:240
	s_cbranch_vccnz .LBB3_2
	.p2align	6
.LBB3_1:                                ; =>This Inner Loop Header: Depth=1
	s_load_b32 s0, s[46:47], 0x0
	v_dual_mov_b32 v31, v40 :: v_dual_mov_b32 v0, v41
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_waitcnt lgkmcnt(0)
	s_and_b32 s0, s0, 63
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
	s_lshl_b32 s0, s0, 2
	s_add_i32 s0, s0, 0
	s_add_u32 s8, s38, 24
	scratch_load_b32 v42, off, s0
	s_addc_u32 s9, s39, 0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z10native_expf@rel32@lo+4
	s_addc_u32 s1, s1, _Z10native_expf@rel32@hi+12
	s_delay_alu instid0(SALU_CYCLE_1)
	s_swappc_b64 s[30:31], s[0:1]
	s_add_i32 s42, s42, -1
	v_fmac_f32_e32 v41, v42, v0
	s_add_u32 s46, s46, 4
	s_addc_u32 s47, s47, 0
	s_cmp_eq_u32 s42, 0
	s_cbranch_scc0 .LBB3_1
.LBB3_2:
	v_cmp_gt_f32_e32 vcc_lo, 0x800000, v41
	s_add_u32 s8, s38, 24
	s_addc_u32 s9, s39, 0
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[10:11], s[34:35]
	v_cndmask_b32_e64 v0, 0, 1, vcc_lo
	v_cndmask_b32_e64 v1, 0, -16, vcc_lo
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_lshlrev_b32_e32 v0, 5, v0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z13get_global_idj@rel32@lo+4
	s_addc_u32 s1, s1, _Z13get_global_idj@rel32@hi+12
	v_mov_b32_e32 v31, v40
	v_ldexp_f32 v0, v41, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_1)
	v_sqrt_f32_e32 v0, v0
	s_waitcnt_depctr 0xfff
	v_ldexp_f32 v0, v0, v1
	v_frexp_mant_f32_e32 v1, v0
	v_frexp_exp_i32_f32_e32 v0, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_dual_mul_f32 v1, 0x3faaaaab, v1 :: v_dual_add_nc_u32 v0, -2, v0
	v_ldexp_f32 v0, v1, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_dual_add_f32 v41, v41, v0 :: v_dual_mov_b32 v0, 0
	s_swappc_b64 s[30:31], s[0:1]
	v_lshlrev_b64 v[0:1], 2, v[0:1]
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_u32 v0, vcc_lo, s44, v0
	v_add_co_ci_u32_e32 v1, vcc_lo, s45, v1, vcc_lo
	global_store_b32 v[0:1], v41, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel private_array
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 272
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 43
		.amdhsa_next_free_sgpr 48
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 0
		.amdhsa_shared_vgpr_count 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end3:
	.size	private_array, .Lfunc_end3-private_array
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 1840
; NumSgprs: 50
; NumVgprs: 43
; ScratchSize: 272
; MemoryBound: 1
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 6
; VGPRBlocks: 5
; NumSGPRsForWavesPerEU: 50
; NumVGPRsForWavesPerEU: 43
; Occupancy: 16
; WaveLimiterHint : 1
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	doubles                 ; -- Begin function doubles
	.globl	doubles
	.p2align	8
	.type	doubles,@function
doubles:                                ; @doubles
; %bb.0:
	s_clause 0x2
	s_load_b128 s[44:47], s[2:3], 0x0
	s_load_b64 s[42:43], s[2:3], 0x10
	s_load_b32 s48, s[2:3], 0x18
	v_mov_b32_e32 v40, v0
	s_add_u32 s38, s2, 32
	v_dual_mov_b32 v31, v0 :: v_dual_mov_b32 v0, 0
	s_mov_b64 s[34:35], s[4:5]
	s_mov_b64 s[36:37], s[0:1]
	s_addc_u32 s39, s3, 0
	s_mov_b32 s40, s14
	s_mov_b32 s41, s13
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s13
	s_mov_b32 s13, s14
	s_mov_b32 s14, s15
	s_mov_b32 s32, 0
	s_mov_b32 s33, s15
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z13get_global_idj@rel32@lo+4
	s_addc_u32 s1, s1, _Z13get_global_idj@rel32@hi+12
	s_delay_alu instid0(SALU_CYCLE_1)
	s_swappc_b64 s[30:31], s[0:1]
	v_ashrrev_i32_e32 v1, 31, v0
	v_mov_b32_e32 v31, v40
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	v_lshlrev_b64 v[41:42], 3, v[0:1]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z12get_local_idj@rel32@lo+4
	s_addc_u32 s1, s1, _Z12get_local_idj@rel32@hi+12
	v_add_co_u32 v43, vcc_lo, s42, v41
	v_add_co_ci_u32_e32 v44, vcc_lo, s43, v42, vcc_lo
	v_add_co_u32 v45, vcc_lo, s46, v41
	v_add_co_ci_u32_e32 v46, vcc_lo, s47, v42, vcc_lo
	global_load_b64 v[0:1], v[43:44], off
	global_load_b64 v[2:3], v[45:46], off
	s_waitcnt vmcnt(1)
	v_cvt_f64_i32_e32 v[4:5], v1
	v_cvt_f64_u32_e32 v[0:1], v0
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_ldexp_f64 v[4:5], v[4:5], 32
	v_add_f64 v[0:1], v[4:5], v[0:1]
	s_waitcnt vmcnt(0)
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_1)
	v_mul_f64 v[56:57], v[2:3], v[0:1]
	v_mov_b32_e32 v0, 0
	s_swappc_b64 s[30:31], s[0:1]
	v_lshlrev_b32_e32 v47, 3, v0
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	v_dual_mov_b32 v31, v40 :: v_dual_add_nc_u32 v0, s48, v47
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z7barrierj@rel32@lo+4
	s_addc_u32 s1, s1, _Z7barrierj@rel32@hi+12
	ds_store_b64 v0, v[56:57]
	v_mov_b32_e32 v0, 1
	s_swappc_b64 s[30:31], s[0:1]
	global_load_b64 v[0:1], v[43:44], off
	v_sub_nc_u32_e32 v2, s48, v47
	global_load_b64 v[8:9], v[45:46], off
	s_add_u32 s1, 0, 0x92481000
	s_addc_u32 s2, 0, 0x64
	s_mul_hi_u32 s4, s1, -7
	ds_load_b64 v[2:3], v2 offset:504
	s_add_i32 s2, s2, 0x249248c0
	s_mul_i32 s3, s1, -7
	s_mul_i32 s5, s2, -7
	s_mul_hi_u32 s6, s1, s3
	s_add_i32 s4, s4, s5
	s_mul_hi_u32 s5, s2, s3
	s_sub_i32 s4, s4, s1
	s_mul_i32 s3, s2, s3
	s_mul_i32 s8, s1, s4
	s_mul_hi_u32 s7, s1, s4
	s_add_u32 s6, s6, s8
	s_addc_u32 s7, 0, s7
	s_mul_hi_u32 s9, s2, s4
	s_add_u32 s3, s6, s3
	s_mul_i32 s4, s2, s4
	s_addc_u32 s3, s7, s5
	s_addc_u32 s5, s9, 0
	s_add_u32 s3, s3, s4
	s_addc_u32 s4, 0, s5
	s_waitcnt lgkmcnt(0)
	v_cmp_gt_f64_e64 s0, 0x10000000, v[2:3]
	v_add_co_u32 v18, s1, s1, s3
	s_delay_alu instid0(VALU_DEP_1)
	s_cmp_lg_u32 s1, 0
	s_mov_b64 s[8:9], s[38:39]
	s_addc_u32 s1, s2, s4
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v40
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_cndmask_b32_e64 v4, 0, 1, s0
	v_lshlrev_b32_e32 v4, 8, v4
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_ldexp_f64 v[4:5], v[2:3], v4
	v_rsq_f64_e32 v[6:7], v[4:5]
	s_waitcnt_depctr 0xfff
	v_mul_f64 v[10:11], v[4:5], v[6:7]
	v_mul_f64 v[6:7], v[6:7], 0.5
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fma_f64 v[12:13], -v[6:7], v[10:11], 0.5
	v_fma_f64 v[10:11], v[10:11], v[12:13], v[10:11]
	v_fma_f64 v[6:7], v[6:7], v[12:13], v[6:7]
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_fma_f64 v[12:13], -v[10:11], v[10:11], v[4:5]
	v_fma_f64 v[10:11], v[12:13], v[6:7], v[10:11]
	s_waitcnt vmcnt(1)
	v_ashrrev_i32_e32 v20, 31, v1
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_co_u32 v14, vcc_lo, v0, v20
	v_add_co_ci_u32_e32 v15, vcc_lo, v1, v20, vcc_lo
	v_xor_b32_e32 v21, v14, v20
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_xor_b32_e32 v22, v15, v20
	v_mad_u64_u32 v[14:15], null, v21, s1, 0
	v_mul_hi_u32 v23, v21, v18
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_mad_u64_u32 v[16:17], null, v22, v18, 0
	v_mad_u64_u32 v[18:19], null, v22, s1, 0
	v_add_co_u32 v14, vcc_lo, v23, v14
	v_add_co_ci_u32_e32 v15, vcc_lo, 0, v15, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_u32 v12, vcc_lo, v14, v16
	v_add_co_ci_u32_e32 v12, vcc_lo, v15, v17, vcc_lo
	v_add_co_ci_u32_e32 v13, vcc_lo, 0, v19, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_co_u32 v16, vcc_lo, v12, v18
	v_add_co_ci_u32_e32 v17, vcc_lo, 0, v13, vcc_lo
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_mad_u64_u32 v[12:13], null, v16, 7, 0
	v_mad_u64_u32 v[14:15], null, v17, 7, v[13:14]
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_sub_co_u32 v15, vcc_lo, v21, v12
	v_fma_f64 v[12:13], -v[10:11], v[10:11], v[4:5]
	v_sub_co_ci_u32_e32 v14, vcc_lo, v22, v14, vcc_lo
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_sub_co_u32 v18, vcc_lo, v15, 7
	v_subrev_co_ci_u32_e32 v19, vcc_lo, 0, v14, vcc_lo
	s_delay_alu instid0(VALU_DEP_2)
	v_cmp_lt_u32_e32 vcc_lo, 6, v18
	v_cmp_eq_u32_e64 s1, 0, v14
	v_cndmask_b32_e64 v18, 0, -1, vcc_lo
	v_add_co_u32 v21, vcc_lo, v16, 2
	v_add_co_ci_u32_e32 v22, vcc_lo, 0, v17, vcc_lo
	v_cmp_lt_u32_e32 vcc_lo, 6, v15
	v_cndmask_b32_e64 v15, 0, -1, vcc_lo
	v_cmp_eq_u32_e32 vcc_lo, 0, v19
	s_delay_alu instid0(VALU_DEP_2)
	v_cndmask_b32_e64 v14, -1, v15, s1
	v_fma_f64 v[6:7], v[12:13], v[6:7], v[10:11]
	v_cndmask_b32_e64 v13, 0, 0xffffff80, s0
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z3clzl@rel32@lo+4
	s_addc_u32 s1, s1, _Z3clzl@rel32@hi+12
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_3) | instid1(VALU_DEP_3)
	v_ldexp_f64 v[6:7], v[6:7], v13
	v_cndmask_b32_e32 v18, -1, v18, vcc_lo
	v_add_co_u32 v19, vcc_lo, v16, 1
	v_add_co_ci_u32_e32 v23, vcc_lo, 0, v17, vcc_lo
	v_cmp_ne_u32_e32 vcc_lo, 0, v18
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_cndmask_b32_e32 v15, v23, v22, vcc_lo
	v_cndmask_b32_e32 v18, v19, v21, vcc_lo
	v_cmp_ne_u32_e32 vcc_lo, 0, v14
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_dual_cndmask_b32 v14, v17, v15 :: v_dual_cndmask_b32 v15, v16, v18
	v_xor_b32_e32 v14, v14, v20
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_xor_b32_e32 v15, v15, v20
	v_sub_co_u32 v12, vcc_lo, v15, v20
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_3)
	v_sub_co_ci_u32_e32 v10, vcc_lo, v14, v20, vcc_lo
	v_cmp_class_f64_e64 vcc_lo, v[4:5], 0x260
	v_cvt_f64_u32_e32 v[12:13], v12
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_cvt_f64_i32_e32 v[10:11], v10
	v_dual_cndmask_b32 v5, v7, v5 :: v_dual_cndmask_b32 v4, v6, v4
	v_ldexp_f64 v[10:11], v[10:11], 32
	s_waitcnt vmcnt(0)
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_fma_f64 v[2:3], v[2:3], v[8:9], v[4:5]
	v_add_f64 v[4:5], v[10:11], v[12:13]
	s_delay_alu instid0(VALU_DEP_1)
	v_add_f64 v[43:44], v[2:3], v[4:5]
	s_swappc_b64 s[30:31], s[0:1]
	v_mov_b32_e32 v31, v40
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z14convert_doublel@rel32@lo+4
	s_addc_u32 s1, s1, _Z14convert_doublel@rel32@hi+12
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	s_swappc_b64 s[30:31], s[0:1]
	v_add_f64 v[0:1], v[0:1], v[43:44]
	v_add_co_u32 v2, vcc_lo, s44, v41
	v_add_co_ci_u32_e32 v3, vcc_lo, s45, v42, vcc_lo
	global_store_b64 v[2:3], v[0:1], off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel doubles
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 288
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 58
		.amdhsa_next_free_sgpr 49
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 0
		.amdhsa_shared_vgpr_count 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end4:
	.size	doubles, .Lfunc_end4-doubles
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 1184
; NumSgprs: 51
; NumVgprs: 58
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 6
; VGPRBlocks: 7
; NumSGPRsForWavesPerEU: 51
; NumVGPRsForWavesPerEU: 58
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	counts                  ; -- Begin function counts
	.globl	counts
	.p2align	8
	.type	counts,@function
counts:                                 ; @counts
; %bb.0:
	s_clause 0x2
	s_load_b128 s[44:47], s[2:3], 0x0
	s_load_b32 s50, s[2:3], 0x10
	s_load_b64 s[42:43], s[2:3], 0x18
	v_dual_mov_b32 v42, v0 :: v_dual_mov_b32 v41, 0
	s_add_u32 s38, s2, 32
	v_dual_mov_b32 v31, v0 :: v_dual_mov_b32 v0, 0
	s_mov_b64 s[34:35], s[4:5]
	s_mov_b64 s[36:37], s[0:1]
	s_addc_u32 s39, s3, 0
	s_mov_b32 s40, s14
	s_mov_b32 s41, s13
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s13
	s_mov_b32 s13, s14
	s_mov_b32 s14, s15
	s_mov_b32 s32, 0
	s_mov_b32 s33, s15
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z13get_global_idj@rel32@lo+4
	s_addc_u32 s1, s1, _Z13get_global_idj@rel32@hi+12
	s_delay_alu instid0(SALU_CYCLE_1)
	s_swappc_b64 s[30:31], s[0:1]
	v_dual_mov_b32 v40, v0 :: v_dual_mov_b32 v31, v42
	v_mov_b32_e32 v0, 0
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z12get_local_idj@rel32@lo+4
	s_addc_u32 s1, s1, _Z12get_local_idj@rel32@hi+12
	s_delay_alu instid0(SALU_CYCLE_1)
	s_swappc_b64 s[30:31], s[0:1]
	v_lshl_add_u32 v45, v0, 2, s50
	v_dual_mov_b32 v31, v42 :: v_dual_mov_b32 v0, 1
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_getpc_b64 s[48:49]
	s_add_u32 s48, s48, _Z7barrierj@rel32@lo+4
	s_addc_u32 s49, s49, _Z7barrierj@rel32@hi+12
	ds_store_b32 v45, v41
	s_swappc_b64 s[30:31], s[48:49]
	v_ashrrev_i32_e32 v41, 31, v40
	v_add_co_u32 v43, vcc_lo, s42, v40
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_delay_alu instid0(VALU_DEP_2)
	v_add_co_ci_u32_e32 v44, vcc_lo, s43, v41, vcc_lo
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	global_load_u8 v0, v[43:44], off
	s_mov_b32 s14, s33
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z10atomic_incPU3AS3Vj@rel32@lo+4
	s_addc_u32 s1, s1, _Z10atomic_incPU3AS3Vj@rel32@hi+12
	s_waitcnt vmcnt(0)
	v_dual_mov_b32 v31, v42 :: v_dual_and_b32 v0, 63, v0
	s_delay_alu instid0(VALU_DEP_1)
	v_lshl_add_u32 v0, v0, 2, s50
	s_swappc_b64 s[30:31], s[0:1]
	v_dual_mov_b32 v31, v42 :: v_dual_mov_b32 v0, 1
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_swappc_b64 s[30:31], s[48:49]
	global_load_u8 v0, v[43:44], off
	ds_load_b32 v2, v45
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z10atomic_addPU3AS1Vjj@rel32@lo+4
	s_addc_u32 s1, s1, _Z10atomic_addPU3AS1Vjj@rel32@hi+12
	s_waitcnt vmcnt(0)
	v_dual_mov_b32 v31, v42 :: v_dual_lshlrev_b32 v0, 2, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v0, s2, s46, v0
	v_add_co_ci_u32_e64 v1, null, s47, 0, s2
	s_swappc_b64 s[30:31], s[0:1]
	s_add_u32 s2, s46, 0x400
	s_addc_u32 s3, s47, 0
	v_dual_mov_b32 v31, v42 :: v_dual_mov_b32 v0, s2
	v_dual_mov_b32 v1, s3 :: v_dual_mov_b32 v2, 3
	v_mov_b32_e32 v3, 4
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z14atomic_cmpxchgPU3AS1Vjjj@rel32@lo+4
	s_addc_u32 s1, s1, _Z14atomic_cmpxchgPU3AS1Vjjj@rel32@hi+12
	s_delay_alu instid0(SALU_CYCLE_1)
	s_swappc_b64 s[30:31], s[0:1]
	s_add_u32 s2, s46, 0x404
	s_addc_u32 s3, s47, 0
	v_dual_mov_b32 v43, v0 :: v_dual_mov_b32 v0, s2
	v_dual_mov_b32 v31, v42 :: v_dual_mov_b32 v2, 1
	v_mov_b32_e32 v1, s3
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z11atomic_xchgPU3AS1Vjj@rel32@lo+4
	s_addc_u32 s1, s1, _Z11atomic_xchgPU3AS1Vjj@rel32@hi+12
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(SKIP_2) | instid1(VALU_DEP_2)
	s_swappc_b64 s[30:31], s[0:1]
	v_lshlrev_b64 v[1:2], 2, v[40:41]
	v_add_nc_u32_e32 v3, v0, v43
	v_add_co_u32 v0, vcc_lo, s44, v1
	s_delay_alu instid0(VALU_DEP_3)
	v_add_co_ci_u32_e32 v1, vcc_lo, s45, v2, vcc_lo
	global_store_b32 v[0:1], v3, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel counts
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 288
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 46
		.amdhsa_next_free_sgpr 51
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 0
		.amdhsa_shared_vgpr_count 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end5:
	.size	counts, .Lfunc_end5-counts
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 704
; NumSgprs: 53
; NumVgprs: 46
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 6
; VGPRBlocks: 5
; NumSGPRsForWavesPerEU: 53
; NumVGPRsForWavesPerEU: 46
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.protected	halves                  ; -- Begin function halves
	.globl	halves
	.p2align	8
	.type	halves,@function
halves:                                 ; @halves
; %bb.0:
	s_load_b256 s[44:51], s[2:3], 0x0
	v_mov_b32_e32 v42, v0
	s_add_u32 s38, s2, 32
	v_dual_mov_b32 v31, v0 :: v_dual_mov_b32 v0, 0
	s_mov_b64 s[34:35], s[4:5]
	s_mov_b64 s[36:37], s[0:1]
	s_addc_u32 s39, s3, 0
	s_mov_b32 s40, s14
	s_mov_b32 s41, s13
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s13
	s_mov_b32 s13, s14
	s_mov_b32 s14, s15
	s_mov_b32 s32, 0
	s_mov_b32 s33, s15
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z13get_global_idj@rel32@lo+4
	s_addc_u32 s1, s1, _Z13get_global_idj@rel32@hi+12
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(SKIP_4) | instid1(VALU_DEP_2)
	s_swappc_b64 s[30:31], s[0:1]
	v_dual_mov_b32 v40, v0 :: v_dual_mov_b32 v31, v42
	v_mov_b32_e32 v3, s47
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	v_ashrrev_i32_e32 v41, 31, v40
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_dual_mov_b32 v1, v41 :: v_dual_mov_b32 v2, s46
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z6vload2mPU3AS0KDh@rel32@lo+4
	s_addc_u32 s1, s1, _Z6vload2mPU3AS0KDh@rel32@hi+12
	s_delay_alu instid0(SALU_CYCLE_1)
	s_swappc_b64 s[30:31], s[0:1]
	v_lshlrev_b64 v[43:44], 1, v[40:41]
	v_lshlrev_b64 v[3:4], 2, v[40:41]
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	v_add_co_u32 v1, vcc_lo, s48, v43
	v_add_co_ci_u32_e32 v2, vcc_lo, s49, v44, vcc_lo
	v_add_co_u32 v40, vcc_lo, s50, v3
	v_add_co_ci_u32_e32 v41, vcc_lo, s51, v4, vcc_lo
	global_load_u16 v2, v[1:2], off
	v_lshrrev_b32_e32 v3, 16, v0
	s_mov_b32 s13, s40
	global_load_u8 v1, v[40:41], off offset:1
	v_mov_b32_e32 v31, v42
	s_mov_b32 s14, s33
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, _Z12convert_halfh@rel32@lo+4
	s_addc_u32 s1, s1, _Z12convert_halfh@rel32@hi+12
	s_waitcnt vmcnt(1)
	v_cvt_f16_i16_e32 v45, v2
	s_delay_alu instid0(VALU_DEP_1)
	v_fmac_f16_e32 v45, v0, v3
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v0, v1
	s_swappc_b64 s[30:31], s[0:1]
	global_load_u8 v1, v[40:41], off offset:3
	v_add_f16_e32 v0, v45, v0
	s_waitcnt vmcnt(0)
	v_cvt_f16_u16_e32 v1, v1
	s_delay_alu instid0(VALU_DEP_1)
	v_sub_f16_e32 v2, v0, v1
	v_add_co_u32 v0, vcc_lo, s44, v43
	v_add_co_ci_u32_e32 v1, vcc_lo, s45, v44, vcc_lo
	global_store_b16 v[0:1], v2, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel halves
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 288
		.amdhsa_user_sgpr_count 13
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_enable_private_segment 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 46
		.amdhsa_next_free_sgpr 52
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 0
		.amdhsa_shared_vgpr_count 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end6:
	.size	halves, .Lfunc_end6-halves
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 368
; NumSgprs: 54
; NumVgprs: 46
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 6
; VGPRBlocks: 5
; NumSGPRsForWavesPerEU: 54
; NumVGPRsForWavesPerEU: 46
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 13
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
	.text
	.p2alignl 7, 3214868480
	.fill 96, 4, 3214868480
	.hidden	__oclc_ABI_version              ; @__oclc_ABI_version
	.type	__oclc_ABI_version,@object
	.section	.rodata,"a",@progbits
	.weak	__oclc_ABI_version
	.p2align	2, 0x0
__oclc_ABI_version:
	.long	500                             ; 0x1f4
	.size	__oclc_ABI_version, 4

	.hidden	_Z12get_local_idj
	.hidden	_Z12get_group_idj
	.hidden	_Z7barrierj
	.hidden	_Z13get_global_idj
	.hidden	_Z10native_expf
	.hidden	_Z14convert_doublel
	.hidden	_Z3clzl
	.hidden	_Z10atomic_incPU3AS3Vj
	.hidden	_Z10atomic_addPU3AS1Vjj
	.hidden	_Z14atomic_cmpxchgPU3AS1Vjjj
	.hidden	_Z11atomic_xchgPU3AS1Vjj
	.hidden	_Z6vload2mPU3AS0KDh
	.hidden	_Z12convert_halfh
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_const:       true
        .offset:         8
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
      - .offset:         16
        .size:           4
        .type_name:      int
        .value_kind:     by_value
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         28
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         32
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         36
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         38
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         40
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         42
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         44
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         46
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         80
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         88
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         104
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         112
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         120
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         128
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         136
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         224
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 4224
    .kernarg_segment_align: 8
    .kernarg_segment_size: 280
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           transpose
    .private_segment_fixed_size: 0
    .sgpr_count:     51
    .sgpr_spill_count: 0
    .symbol:         transpose.kd
    .uses_dynamic_stack: true
    .vgpr_count:     45
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_const:       true
        .offset:         8
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .offset:         16
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         20
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         28
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         30
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         32
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         34
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         36
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         38
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         56
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         80
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         96
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         104
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         112
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         120
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         128
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         216
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 272
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           steps
    .private_segment_fixed_size: 0
    .sgpr_count:     42
    .sgpr_spill_count: 0
    .symbol:         steps.kd
    .uses_dynamic_stack: true
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .type_name:      'float*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_const:       true
        .offset:         8
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .offset:         16
        .size:           4
        .type_name:      int
        .value_kind:     by_value
      - .offset:         24
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         28
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         32
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         36
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         38
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         40
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         42
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         44
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         46
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         64
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         80
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         88
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         104
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         112
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         120
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         128
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         136
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         224
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 280
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           private_array
    .private_segment_fixed_size: 272
    .sgpr_count:     50
    .sgpr_spill_count: 0
    .symbol:         private_array.kd
    .uses_dynamic_stack: true
    .vgpr_count:     43
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .type_name:      'double*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_const:       true
        .offset:         8
        .size:           8
        .type_name:      'double*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_const:       true
        .offset:         16
        .size:           8
        .type_name:      'long*'
        .value_kind:     global_buffer
      - .address_space:  local
        .offset:         24
        .pointee_align:  8
        .size:           4
        .type_name:      'double*'
        .value_kind:     dynamic_shared_pointer
      - .offset:         32
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         36
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         40
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         44
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         46
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         48
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         50
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         52
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         54
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         80
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         88
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         96
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         112
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         120
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         128
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         136
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         144
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         152
        .size:           4
        .value_kind:     hidden_dynamic_lds_size
      - .offset:         232
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 288
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           doubles
    .private_segment_fixed_size: 0
    .sgpr_count:     51
    .sgpr_spill_count: 0
    .symbol:         doubles.kd
    .uses_dynamic_stack: true
    .vgpr_count:     58
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .type_name:      'int*'
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         8
        .size:           8
        .type_name:      'uint*'
        .value_kind:     global_buffer
      - .address_space:  local
        .offset:         16
        .pointee_align:  4
        .size:           4
        .type_name:      'uint*'
        .value_kind:     dynamic_shared_pointer
      - .address_space:  global
        .is_const:       true
        .offset:         24
        .size:           8
        .type_name:      'uchar*'
        .value_kind:     global_buffer
      - .offset:         32
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         36
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         40
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         44
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         46
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         48
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         50
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         52
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         54
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         80
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         88
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         96
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         112
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         120
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         128
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         136
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         144
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         152
        .size:           4
        .value_kind:     hidden_dynamic_lds_size
      - .offset:         232
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 288
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           counts
    .private_segment_fixed_size: 0
    .sgpr_count:     53
    .sgpr_spill_count: 0
    .symbol:         counts.kd
    .uses_dynamic_stack: true
    .vgpr_count:     46
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
  - .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .type_name:      'half*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_const:       true
        .offset:         8
        .size:           8
        .type_name:      'half*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_const:       true
        .offset:         16
        .size:           8
        .type_name:      'short*'
        .value_kind:     global_buffer
      - .address_space:  global
        .is_const:       true
        .offset:         24
        .size:           8
        .type_name:      'uchar4*'
        .value_kind:     global_buffer
      - .offset:         32
        .size:           4
        .value_kind:     hidden_block_count_x
      - .offset:         36
        .size:           4
        .value_kind:     hidden_block_count_y
      - .offset:         40
        .size:           4
        .value_kind:     hidden_block_count_z
      - .offset:         44
        .size:           2
        .value_kind:     hidden_group_size_x
      - .offset:         46
        .size:           2
        .value_kind:     hidden_group_size_y
      - .offset:         48
        .size:           2
        .value_kind:     hidden_group_size_z
      - .offset:         50
        .size:           2
        .value_kind:     hidden_remainder_x
      - .offset:         52
        .size:           2
        .value_kind:     hidden_remainder_y
      - .offset:         54
        .size:           2
        .value_kind:     hidden_remainder_z
      - .offset:         72
        .size:           8
        .value_kind:     hidden_global_offset_x
      - .offset:         80
        .size:           8
        .value_kind:     hidden_global_offset_y
      - .offset:         88
        .size:           8
        .value_kind:     hidden_global_offset_z
      - .offset:         96
        .size:           2
        .value_kind:     hidden_grid_dims
      - .offset:         112
        .size:           8
        .value_kind:     hidden_hostcall_buffer
      - .offset:         120
        .size:           8
        .value_kind:     hidden_multigrid_sync_arg
      - .offset:         128
        .size:           8
        .value_kind:     hidden_heap_v1
      - .offset:         136
        .size:           8
        .value_kind:     hidden_default_queue
      - .offset:         144
        .size:           8
        .value_kind:     hidden_completion_action
      - .offset:         232
        .size:           8
        .value_kind:     hidden_queue_ptr
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 288
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           halves
    .private_segment_fixed_size: 0
    .sgpr_count:     54
    .sgpr_spill_count: 0
    .symbol:         halves.kd
    .uses_dynamic_stack: true
    .vgpr_count:     46
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
amdhsa.target:   amdgcn-amd-amdhsa--gfx1100
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
