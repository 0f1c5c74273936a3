	.text
	.amdgcn_target "amdgcn-amd-amdhsa--gfx908"
	.amdhsa_code_object_version 5
	.hidden	collatz                         ; -- Begin function collatz
	.globl	collatz
	.p2align	2
	.type	collatz,@function
collatz:                                ; @collatz
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_cmp_lt_i32_e32 vcc, 1, v0
	v_mov_b32_e32 v1, 0
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB0_8
; %bb.1:
	s_mov_b32 s10, 0
	s_mov_b64 s[6:7], 0
	s_branch .LBB0_3
.LBB0_2:                                ;   in Loop: Header=BB0_3 Depth=1
	s_or_b64 exec, exec, s[8:9]
	s_add_i32 s10, s10, 1
	v_cmp_gt_u32_e32 vcc, 2, v0
	s_or_b64 s[6:7], vcc, s[6:7]
	v_mov_b32_e32 v1, s10
	s_andn2_b64 exec, exec, s[6:7]
	s_cbranch_execz .LBB0_7
.LBB0_3:                                ; =>This Inner Loop Header: Depth=1
	v_and_b32_e32 v1, 1, v0
	v_cmp_eq_u32_e32 vcc, 1, v1
	s_and_saveexec_b64 s[8:9], vcc
	s_xor_b64 s[8:9], exec, s[8:9]
; %bb.4:                                ;   in Loop: Header=BB0_3 Depth=1
	v_mad_u64_u32 v[0:1], s[12:13], v0, 3, 1
; %bb.5:                                ;   in Loop: Header=BB0_3 Depth=1
	s_andn2_saveexec_b64 s[8:9], s[8:9]
	s_cbranch_execz .LBB0_2
; %bb.6:                                ;   in Loop: Header=BB0_3 Depth=1
	v_lshrrev_b32_e32 v0, 1, v0
	s_branch .LBB0_2
.LBB0_7:
	s_or_b64 exec, exec, s[6:7]
.LBB0_8:
	s_or_b64 exec, exec, s[4:5]
	v_mov_b32_e32 v0, v1
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.size	collatz, .Lfunc_end0-collatz
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 116
; NumSgprs: 36
; NumVgprs: 2
; NumAgprs: 0
; TotalNumVgprs: 2
; ScratchSize: 0
; MemoryBound: 0
	.text
	.protected	transpose               ; -- Begin function transpose
	.globl	transpose
	.p2align	8
	.type	transpose,@function
transpose:                              ; @transpose
; %bb.0:
	s_add_u32 flat_scratch_lo, s10, s15
	s_addc_u32 flat_scratch_hi, s11, 0
	s_add_u32 s0, s0, s15
	s_load_dwordx4 s[44:47], s[6:7], 0x0
	s_load_dword s48, s[6:7], 0x10
	s_addc_u32 s1, s1, 0
	s_add_u32 s38, s6, 24
	v_lshlrev_b32_e32 v2, 20, v2
	v_lshlrev_b32_e32 v1, 10, v1
	s_mov_b64 s[34:35], s[8:9]
	s_addc_u32 s39, s7, 0
	v_or3_b32 v40, v0, v1, v2
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	v_mov_b32_e32 v31, v40
	v_mov_b32_e32 v0, 0
	s_mov_b32 s32, 0
	s_mov_b32 s33, s14
	s_mov_b32 s40, s13
	s_mov_b32 s41, s12
	s_mov_b64 s[36:37], s[4:5]
	s_getpc_b64 s[42:43]
	s_add_u32 s42, s42, _Z12get_local_idj@rel32@lo+4
	s_addc_u32 s43, s43, _Z12get_local_idj@rel32@hi+12
	s_swappc_b64 s[30:31], s[42:43]
	v_mov_b32_e32 v41, v0
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v40
	v_mov_b32_e32 v0, 1
	s_swappc_b64 s[30:31], s[42:43]
	v_mov_b32_e32 v42, v0
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v40
	v_mov_b32_e32 v0, 0
	s_getpc_b64 s[42:43]
	s_add_u32 s42, s42, _Z12get_group_idj@rel32@lo+4
	s_addc_u32 s43, s43, _Z12get_group_idj@rel32@hi+12
	s_swappc_b64 s[30:31], s[42:43]
	v_lshlrev_b32_e32 v43, 5, v0
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v40
	v_mov_b32_e32 v0, 1
	s_swappc_b64 s[30:31], s[42:43]
	v_lshlrev_b32_e32 v44, 5, v0
	v_add_u32_e32 v0, v44, v42
	v_mul_lo_u32 v0, v0, s48
	v_mov_b32_e32 v3, s47
	s_lshl_b32 s42, s48, 3
	s_movk_i32 s43, 0x84
	v_add3_u32 v0, v43, v41, v0
	v_ashrrev_i32_e32 v1, 31, v0
	v_lshlrev_b64 v[1:2], 2, v[0:1]
	s_mov_b64 s[4:5], s[36:37]
	v_add_co_u32_e32 v1, vcc, s46, v1
	v_addc_co_u32_e32 v2, vcc, v3, v2, vcc
	v_add_u32_e32 v3, s42, v0
	v_ashrrev_i32_e32 v4, 31, v3
	v_lshlrev_b64 v[4:5], 2, v[3:4]
	v_add_u32_e32 v6, s42, v3
	v_ashrrev_i32_e32 v7, 31, v6
	v_mov_b32_e32 v0, s47
	v_add_co_u32_e32 v4, vcc, s46, v4
	v_lshlrev_b64 v[7:8], 2, v[6:7]
	v_add_u32_e32 v9, s42, v6
	v_addc_co_u32_e32 v5, vcc, v0, v5, vcc
	v_ashrrev_i32_e32 v10, 31, v9
	v_add_co_u32_e32 v7, vcc, s46, v7
	v_lshlrev_b64 v[9:10], 2, v[9:10]
	v_addc_co_u32_e32 v8, vcc, v0, v8, vcc
	v_add_co_u32_e32 v9, vcc, s46, v9
	v_addc_co_u32_e32 v10, vcc, v0, v10, vcc
	global_load_dword v0, v[1:2], off
	global_load_dword v3, v[4:5], off
	global_load_dword v6, v[7:8], off
	global_load_dword v11, v[9:10], off
	v_mul_lo_u32 v1, v42, s43
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	v_lshl_add_u32 v1, v41, 2, v1
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v40
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z7barrierj@rel32@lo+4
	s_addc_u32 s7, s7, _Z7barrierj@rel32@hi+12
	s_waitcnt vmcnt(3)
	ds_write_b32 v1, v0
	s_waitcnt vmcnt(2)
	ds_write_b32 v1, v3 offset:1056
	s_waitcnt vmcnt(1)
	ds_write_b32 v1, v6 offset:2112
	s_waitcnt vmcnt(0)
	ds_write_b32 v1, v11 offset:3168
	v_mov_b32_e32 v0, 1
	s_swappc_b64 s[30:31], s[6:7]
	v_add_u32_e32 v0, v43, v42
	v_mul_lo_u32 v1, v41, s43
	v_mul_lo_u32 v0, v0, s48
	v_mov_b32_e32 v6, s45
	v_lshl_add_u32 v5, v42, 2, v1
	v_add3_u32 v0, v44, v41, v0
	v_ashrrev_i32_e32 v1, 31, v0
	ds_read2_b32 v[3:4], v5 offset1:8
	v_lshlrev_b64 v[1:2], 2, v[0:1]
	v_add_u32_e32 v0, s42, v0
	v_add_co_u32_e32 v1, vcc, s44, v1
	v_addc_co_u32_e32 v2, vcc, v6, v2, vcc
	s_waitcnt lgkmcnt(0)
	global_store_dword v[1:2], v3, off
	v_ashrrev_i32_e32 v1, 31, v0
	v_lshlrev_b64 v[1:2], 2, v[0:1]
	v_mov_b32_e32 v3, s45
	v_add_co_u32_e32 v1, vcc, s44, v1
	v_addc_co_u32_e32 v2, vcc, v3, v2, vcc
	v_add_u32_e32 v3, s42, v0
	global_store_dword v[1:2], v4, off
	ds_read2_b32 v[1:2], v5 offset0:16 offset1:24
	v_ashrrev_i32_e32 v4, 31, v3
	v_lshlrev_b64 v[4:5], 2, v[3:4]
	v_mov_b32_e32 v0, s45
	v_add_co_u32_e32 v4, vcc, s44, v4
	v_addc_co_u32_e32 v5, vcc, v0, v5, vcc
	v_add_u32_e32 v0, s42, v3
	s_waitcnt lgkmcnt(0)
	global_store_dword v[4:5], v1, off
	v_ashrrev_i32_e32 v1, 31, v0
	v_lshlrev_b64 v[0:1], 2, v[0:1]
	v_mov_b32_e32 v3, s45
	v_add_co_u32_e32 v0, vcc, s44, v0
	v_addc_co_u32_e32 v1, vcc, v3, v1, vcc
	global_store_dword v[0:1], v2, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel transpose
		.amdhsa_group_segment_fixed_size 4224
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 12
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_flat_scratch_init 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_system_sgpr_private_segment_wavefront_offset 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 45
		.amdhsa_next_free_sgpr 49
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 1
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
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
; codeLenInByte = 748
; NumSgprs: 55
; NumVgprs: 45
; NumAgprs: 0
; TotalNumVgprs: 45
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 4224 bytes/workgroup (compile time only)
; SGPRBlocks: 6
; VGPRBlocks: 11
; NumSGPRsForWavesPerEU: 55
; NumVGPRsForWavesPerEU: 45
; Occupancy: 5
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 12
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
	s_add_u32 flat_scratch_lo, s10, s15
	s_addc_u32 flat_scratch_hi, s11, 0
	s_add_u32 s0, s0, s15
	s_load_dwordx4 s[36:39], s[6:7], 0x0
	s_addc_u32 s1, s1, 0
	s_mov_b64 s[10:11], s[8:9]
	s_add_u32 s8, s6, 16
	v_lshlrev_b32_e32 v2, 20, v2
	v_lshlrev_b32_e32 v1, 10, v1
	s_addc_u32 s9, s7, 0
	v_or3_b32 v31, v0, v1, v2
	v_mov_b32_e32 v0, 0
	s_mov_b32 s32, 0
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z13get_global_idj@rel32@lo+4
	s_addc_u32 s7, s7, _Z13get_global_idj@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	v_ashrrev_i32_e32 v1, 31, v0
	v_lshlrev_b64 v[4:5], 2, v[0:1]
	v_mov_b32_e32 v1, s39
	v_add_co_u32_e32 v0, vcc, s38, v4
	v_addc_co_u32_e32 v1, vcc, v1, v5, vcc
	global_load_dword v2, v[0:1], off
	s_getpc_b64 s[14:15]
	s_add_u32 s14, s14, collatz@rel32@lo+4
	s_addc_u32 s15, s15, collatz@rel32@hi+12
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v0, v2
	s_swappc_b64 s[30:31], s[14:15]
	s_mov_b32 s4, 0x55555556
	v_mov_b32_e32 v3, v0
	v_mul_hi_i32 v0, v2, s4
	v_lshrrev_b32_e32 v1, 31, v0
	v_add_u32_e32 v0, v0, v1
	s_swappc_b64 s[30:31], s[14:15]
	v_add_u32_e32 v2, v0, v3
	v_mov_b32_e32 v1, s37
	v_add_co_u32_e32 v0, vcc, s36, v4
	v_addc_co_u32_e32 v1, vcc, v1, v5, vcc
	global_store_dword v[0:1], v2, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel steps
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 272
		.amdhsa_user_sgpr_count 12
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_flat_scratch_init 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_system_sgpr_private_segment_wavefront_offset 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 40
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 1
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
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
; NumSgprs: 46
; NumVgprs: 32
; NumAgprs: 0
; TotalNumVgprs: 32
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 5
; VGPRBlocks: 7
; NumSGPRsForWavesPerEU: 46
; NumVGPRsForWavesPerEU: 32
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 12
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
	s_load_dwordx4 s[44:47], s[6:7], 0x0
	s_load_dword s42, s[6:7], 0x10
	s_mov_b64 s[38:39], s[6:7]
	s_add_u32 flat_scratch_lo, s10, s15
	s_addc_u32 flat_scratch_hi, s11, 0
	s_waitcnt lgkmcnt(0)
	s_load_dword s6, s[44:45], 0x0
	s_add_u32 s0, s0, s15
	s_addc_u32 s1, s1, 0
	s_ashr_i32 s43, s42, 31
	v_mov_b32_e32 v40, v0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s6
	s_lshl_b64 s[6:7], s[42:43], 2
	s_mov_b64 s[34:35], s[8:9]
	s_add_u32 s8, s44, s6
	s_addc_u32 s9, s45, s7
	s_add_u32 s10, s8, s6
	s_addc_u32 s11, s9, s7
	s_mov_b32 s41, s12
	s_add_u32 s12, s10, s6
	s_mov_b32 s40, s13
	s_addc_u32 s13, s11, s7
	s_mov_b32 s33, s14
	s_add_u32 s14, s12, s6
	s_addc_u32 s15, s13, s7
	s_add_u32 s16, s14, s6
	s_addc_u32 s17, s15, s7
	s_add_u32 s18, s16, s6
	buffer_store_dword v0, off, s[0:3], 0
	s_addc_u32 s19, s17, s7
	s_load_dword s20, s[8:9], 0x0
	s_load_dword s21, s[10:11], 0x0
	s_load_dword s22, s[12:13], 0x0
	s_load_dword s23, s[14:15], 0x0
	s_load_dword s24, s[16:17], 0x0
	s_load_dword s25, s[18:19], 0x0
	s_add_u32 s8, s18, s6
	s_addc_u32 s9, s19, s7
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s20
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	buffer_store_dword v0, off, s[0:3], 0 offset:4
	v_mov_b32_e32 v0, s21
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:8
	v_mov_b32_e32 v0, s22
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	buffer_store_dword v0, off, s[0:3], 0 offset:12
	v_mov_b32_e32 v0, s23
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:16
	v_mov_b32_e32 v0, s24
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	buffer_store_dword v0, off, s[0:3], 0 offset:20
	v_mov_b32_e32 v0, s25
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:24
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:28
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:32
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:36
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:40
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:44
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:48
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:52
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:56
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:60
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:64
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:68
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:72
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:76
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:80
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:84
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:88
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:92
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:96
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:100
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:104
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:108
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:112
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:116
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:120
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:124
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:128
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:132
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:136
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:140
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:144
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:148
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:152
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:156
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:160
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:164
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:168
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:172
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:176
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:180
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:184
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:188
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:192
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:196
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:200
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:204
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:208
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:212
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:216
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:220
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:224
	v_mov_b32_e32 v0, s12
	s_load_dword s12, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	buffer_store_dword v0, off, s[0:3], 0 offset:228
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	s_load_dword s10, s[8:9], 0x0
	s_add_u32 s8, s8, s6
	s_addc_u32 s9, s9, s7
	s_add_u32 s6, s8, s6
	buffer_store_dword v0, off, s[0:3], 0 offset:232
	v_mov_b32_e32 v0, s11
	s_load_dword s11, s[8:9], 0x0
	s_addc_u32 s7, s9, s7
	s_load_dword s6, s[6:7], 0x0
	buffer_store_dword v0, off, s[0:3], 0 offset:236
	v_mov_b32_e32 v0, s12
	s_mov_b64 s[36:37], s[4:5]
	v_cmp_lt_i64_e64 s[4:5], s[42:43], 1
	buffer_store_dword v0, off, s[0:3], 0 offset:240
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s10
	buffer_store_dword v0, off, s[0:3], 0 offset:244
	v_mov_b32_e32 v0, s11
	buffer_store_dword v0, off, s[0:3], 0 offset:248
	v_mov_b32_e32 v0, s6
	s_and_b64 vcc, exec, s[4:5]
	v_lshlrev_b32_e32 v43, 20, v2
	v_lshlrev_b32_e32 v44, 10, v1
	v_mov_b32_e32 v41, 0
	s_movk_i32 s32, 0x4400
	buffer_store_dword v0, off, s[0:3], 0 offset:252
	s_cbranch_vccnz .LBB3_3
; %bb.1:
	v_mov_b32_e32 v45, 0
	v_or3_b32 v42, v40, v44, v43
.LBB3_2:                                ; =>This Inner Loop Header: Depth=1
	s_load_dword s4, s[46:47], 0x0
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	s_waitcnt lgkmcnt(0)
	s_and_b32 s4, s4, 63
	s_lshl_b32 s4, s4, 2
	v_add_u32_e32 v0, s4, v45
	buffer_load_dword v46, v0, s[0:3], 0 offen
	s_add_u32 s8, s38, 24
	s_addc_u32 s9, s39, 0
	s_mov_b64 s[4:5], s[36:37]
	v_mov_b32_e32 v31, v42
	v_mov_b32_e32 v0, v41
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z10native_expf@rel32@lo+4
	s_addc_u32 s7, s7, _Z10native_expf@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	s_add_i32 s42, s42, -1
	s_add_u32 s46, s46, 4
	s_addc_u32 s47, s47, 0
	s_cmp_eq_u32 s42, 0
	v_fmac_f32_e32 v41, v46, v0
	s_cbranch_scc0 .LBB3_2
.LBB3_3:
	s_mov_b32 s4, 0x800000
	v_cmp_gt_f32_e32 vcc, s4, v41
	v_cndmask_b32_e64 v0, 0, 1, vcc
	v_lshlrev_b32_e32 v0, 5, v0
	v_ldexp_f32 v0, v41, v0
	v_sqrt_f32_e32 v0, v0
	v_cndmask_b32_e64 v1, 0, -16, vcc
	s_add_u32 s8, s38, 24
	s_addc_u32 s9, s39, 0
	v_ldexp_f32 v0, v0, v1
	v_frexp_exp_i32_f32_e32 v1, v0
	v_frexp_mant_f32_e32 v0, v0
	v_mul_f32_e32 v0, 0x3faaaaab, v0
	v_add_u32_e32 v1, -2, v1
	v_ldexp_f32 v0, v0, v1
	v_add_f32_e32 v41, v41, v0
	v_or3_b32 v31, v40, v44, v43
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v0, 0
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z13get_global_idj@rel32@lo+4
	s_addc_u32 s7, s7, _Z13get_global_idj@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	v_lshlrev_b64 v[0:1], 2, v[0:1]
	v_mov_b32_e32 v2, s45
	v_add_co_u32_e32 v0, vcc, s44, v0
	v_addc_co_u32_e32 v1, vcc, v2, v1, vcc
	global_store_dword v[0:1], v41, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel private_array
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 272
		.amdhsa_kernarg_size 280
		.amdhsa_user_sgpr_count 12
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_flat_scratch_init 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_system_sgpr_private_segment_wavefront_offset 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 47
		.amdhsa_next_free_sgpr 48
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 1
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
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
; codeLenInByte = 2280
; NumSgprs: 54
; NumVgprs: 47
; NumAgprs: 0
; TotalNumVgprs: 47
; ScratchSize: 272
; MemoryBound: 1
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 6
; VGPRBlocks: 11
; NumSGPRsForWavesPerEU: 54
; NumVGPRsForWavesPerEU: 47
; Occupancy: 5
; WaveLimiterHint : 1
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 12
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
	s_add_u32 flat_scratch_lo, s10, s15
	s_addc_u32 flat_scratch_hi, s11, 0
	s_load_dwordx4 s[44:47], s[6:7], 0x0
	s_load_dwordx2 s[42:43], s[6:7], 0x10
	s_load_dword s48, s[6:7], 0x18
	s_add_u32 s0, s0, s15
	s_addc_u32 s1, s1, 0
	s_add_u32 s38, s6, 32
	v_lshlrev_b32_e32 v2, 20, v2
	v_lshlrev_b32_e32 v1, 10, v1
	s_mov_b64 s[34:35], s[8:9]
	s_addc_u32 s39, s7, 0
	v_or3_b32 v40, v0, v1, v2
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	v_mov_b32_e32 v31, v40
	v_mov_b32_e32 v0, 0
	s_mov_b32 s32, 0
	s_mov_b32 s33, s14
	s_mov_b32 s40, s13
	s_mov_b32 s41, s12
	s_mov_b64 s[36:37], s[4:5]
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z13get_global_idj@rel32@lo+4
	s_addc_u32 s7, s7, _Z13get_global_idj@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	v_ashrrev_i32_e32 v1, 31, v0
	v_lshlrev_b64 v[41:42], 3, v[0:1]
	v_mov_b32_e32 v0, s43
	v_add_co_u32_e32 v43, vcc, s42, v41
	v_addc_co_u32_e32 v44, vcc, v0, v42, vcc
	global_load_dwordx2 v[0:1], v[43:44], off
	v_mov_b32_e32 v2, s47
	v_add_co_u32_e32 v45, vcc, s46, v41
	v_addc_co_u32_e32 v46, vcc, v2, v42, vcc
	global_load_dwordx2 v[2:3], v[45:46], off
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v40
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z12get_local_idj@rel32@lo+4
	s_addc_u32 s7, s7, _Z12get_local_idj@rel32@hi+12
	s_waitcnt vmcnt(1)
	v_cvt_f64_i32_e32 v[4:5], v1
	v_cvt_f64_u32_e32 v[0:1], v0
	v_ldexp_f64 v[4:5], v[4:5], 32
	v_add_f64 v[0:1], v[4:5], v[0:1]
	s_waitcnt vmcnt(0)
	v_mul_f64 v[56:57], v[2:3], v[0:1]
	v_mov_b32_e32 v0, 0
	s_swappc_b64 s[30:31], s[6:7]
	v_lshlrev_b32_e32 v47, 3, v0
	v_add_u32_e32 v0, s48, v47
	ds_write_b64 v0, v[56:57]
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v40
	v_mov_b32_e32 v0, 1
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z7barrierj@rel32@lo+4
	s_addc_u32 s7, s7, _Z7barrierj@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	v_sub_u32_e32 v0, s48, v47
	ds_read_b64 v[2:3], v0 offset:504
	s_mov_b32 s4, 0
	s_brev_b32 s5, 8
	global_load_dwordx2 v[0:1], v[43:44], off
	s_add_u32 s6, 0, 0x92481000
	s_waitcnt lgkmcnt(0)
	v_cmp_gt_f64_e64 s[4:5], s[4:5], v[2:3]
	s_addc_u32 s7, 0, 0x64
	s_add_i32 s7, s7, 0x249248c0
	s_mul_hi_u32 s9, s6, -7
	s_mul_i32 s12, s7, -7
	s_add_i32 s9, s9, s12
	s_mul_i32 s8, s6, -7
	s_sub_i32 s9, s9, s6
	v_cndmask_b32_e64 v4, 0, 1, s[4:5]
	v_lshlrev_b32_e32 v4, 8, v4
	v_ldexp_f64 v[4:5], v[2:3], v4
	s_mul_hi_u32 s10, s6, s8
	s_mul_i32 s13, s6, s9
	s_mul_hi_u32 s12, s6, s9
	s_add_u32 s10, s10, s13
	s_mul_hi_u32 s11, s7, s8
	s_mul_i32 s8, s7, s8
	s_addc_u32 s12, 0, s12
	v_rsq_f64_e32 v[6:7], v[4:5]
	s_add_u32 s8, s10, s8
	s_mul_hi_u32 s14, s7, s9
	s_addc_u32 s8, s12, s11
	s_mul_i32 s9, s7, s9
	s_addc_u32 s10, s14, 0
	s_add_u32 s8, s8, s9
	v_mov_b32_e32 v12, s8
	s_addc_u32 s9, 0, s10
	v_add_co_u32_e32 v12, vcc, s6, v12
	s_cmp_lg_u64 vcc, 0
	s_addc_u32 s8, s7, s9
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	v_mul_f64 v[8:9], v[4:5], v[6:7]
	v_mul_f64 v[6:7], v[6:7], 0.5
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v40
	v_fma_f64 v[10:11], -v[6:7], v[8:9], 0.5
	v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]
	v_fma_f64 v[6:7], v[6:7], v[10:11], v[6:7]
	v_fma_f64 v[10:11], -v[8:9], v[8:9], v[4:5]
	v_fma_f64 v[8:9], v[10:11], v[6:7], v[8:9]
	v_fma_f64 v[10:11], -v[8:9], v[8:9], v[4:5]
	s_waitcnt vmcnt(0)
	v_ashrrev_i32_e32 v13, 31, v1
	v_fma_f64 v[6:7], v[10:11], v[6:7], v[8:9]
	v_add_co_u32_e32 v8, vcc, v0, v13
	v_addc_co_u32_e32 v9, vcc, v1, v13, vcc
	v_xor_b32_e32 v15, v8, v13
	v_xor_b32_e32 v14, v9, v13
	v_mad_u64_u32 v[8:9], s[6:7], v15, s8, 0
	v_mul_hi_u32 v16, v15, v12
	v_mad_u64_u32 v[10:11], s[6:7], v14, v12, 0
	v_add_co_u32_e32 v12, vcc, v16, v8
	v_addc_co_u32_e32 v16, vcc, 0, v9, vcc
	v_mad_u64_u32 v[8:9], s[6:7], v14, s8, 0
	v_add_co_u32_e32 v10, vcc, v12, v10
	v_addc_co_u32_e32 v10, vcc, v16, v11, vcc
	v_addc_co_u32_e32 v9, vcc, 0, v9, vcc
	v_add_co_u32_e32 v11, vcc, v10, v8
	v_addc_co_u32_e32 v12, vcc, 0, v9, vcc
	v_mad_u64_u32 v[8:9], s[6:7], v11, 7, 0
	v_mov_b32_e32 v10, 0xffffff80
	v_cndmask_b32_e64 v10, 0, v10, s[4:5]
	v_ldexp_f64 v[6:7], v[6:7], v10
	v_mad_u64_u32 v[9:10], s[4:5], v12, 7, v[9:10]
	v_sub_co_u32_e32 v10, vcc, v15, v8
	v_subb_co_u32_e32 v14, vcc, v14, v9, vcc
	v_subrev_co_u32_e32 v8, vcc, 7, v10
	v_subbrev_co_u32_e32 v9, vcc, 0, v14, vcc
	v_cmp_lt_u32_e32 vcc, 6, v8
	v_cndmask_b32_e64 v8, 0, -1, vcc
	v_cmp_eq_u32_e32 vcc, 0, v9
	v_cndmask_b32_e32 v8, -1, v8, vcc
	v_add_co_u32_e32 v17, vcc, 1, v11
	v_addc_co_u32_e32 v18, vcc, 0, v12, vcc
	v_cmp_ne_u32_e32 vcc, 0, v8
	global_load_dwordx2 v[8:9], v[45:46], off
	v_add_co_u32_e64 v15, s[4:5], 2, v11
	v_addc_co_u32_e64 v16, s[4:5], 0, v12, s[4:5]
	v_cmp_lt_u32_e64 s[4:5], 6, v10
	v_cndmask_b32_e64 v10, 0, -1, s[4:5]
	v_cmp_eq_u32_e64 s[4:5], 0, v14
	v_cndmask_b32_e64 v10, -1, v10, s[4:5]
	v_cndmask_b32_e32 v16, v18, v16, vcc
	v_cmp_ne_u32_e64 s[4:5], 0, v10
	v_cndmask_b32_e64 v10, v12, v16, s[4:5]
	v_cndmask_b32_e32 v12, v17, v15, vcc
	v_cndmask_b32_e64 v11, v11, v12, s[4:5]
	v_xor_b32_e32 v11, v11, v13
	v_xor_b32_e32 v10, v10, v13
	v_sub_co_u32_e32 v12, vcc, v11, v13
	v_subb_co_u32_e32 v10, vcc, v10, v13, vcc
	v_cvt_f64_i32_e32 v[10:11], v10
	v_mov_b32_e32 v13, 0x260
	v_cmp_class_f64_e32 vcc, v[4:5], v13
	v_cvt_f64_u32_e32 v[12:13], v12
	v_ldexp_f64 v[10:11], v[10:11], 32
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z3clzl@rel32@lo+4
	s_addc_u32 s7, s7, _Z3clzl@rel32@hi+12
	v_cndmask_b32_e32 v5, v7, v5, vcc
	v_cndmask_b32_e32 v4, v6, v4, vcc
	s_waitcnt vmcnt(0)
	v_fma_f64 v[2:3], v[2:3], v[8:9], v[4:5]
	v_add_f64 v[4:5], v[10:11], v[12:13]
	v_add_f64 v[43:44], v[2:3], v[4:5]
	s_swappc_b64 s[30:31], s[6:7]
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v40
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z14convert_doublel@rel32@lo+4
	s_addc_u32 s7, s7, _Z14convert_doublel@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	v_add_f64 v[0:1], v[0:1], v[43:44]
	v_mov_b32_e32 v3, s45
	v_add_co_u32_e32 v2, vcc, s44, v41
	v_addc_co_u32_e32 v3, vcc, v3, v42, vcc
	global_store_dwordx2 v[2:3], v[0:1], off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel doubles
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 288
		.amdhsa_user_sgpr_count 12
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_flat_scratch_init 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_system_sgpr_private_segment_wavefront_offset 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 58
		.amdhsa_next_free_sgpr 49
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 1
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
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
; codeLenInByte = 1076
; NumSgprs: 55
; NumVgprs: 58
; NumAgprs: 0
; TotalNumVgprs: 58
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 6
; VGPRBlocks: 14
; NumSGPRsForWavesPerEU: 55
; NumVGPRsForWavesPerEU: 58
; Occupancy: 4
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 12
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
	s_add_u32 flat_scratch_lo, s10, s15
	s_addc_u32 flat_scratch_hi, s11, 0
	s_load_dwordx4 s[44:47], s[6:7], 0x0
	s_load_dword s50, s[6:7], 0x10
	s_load_dwordx2 s[42:43], s[6:7], 0x18
	s_add_u32 s0, s0, s15
	s_addc_u32 s1, s1, 0
	s_add_u32 s38, s6, 32
	v_lshlrev_b32_e32 v2, 20, v2
	v_lshlrev_b32_e32 v1, 10, v1
	s_mov_b64 s[34:35], s[8:9]
	s_addc_u32 s39, s7, 0
	v_or3_b32 v42, v0, v1, v2
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	v_mov_b32_e32 v31, v42
	v_mov_b32_e32 v0, 0
	s_mov_b32 s32, 0
	s_mov_b32 s33, s14
	s_mov_b32 s40, s13
	s_mov_b32 s41, s12
	s_mov_b64 s[36:37], s[4:5]
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z13get_global_idj@rel32@lo+4
	s_addc_u32 s7, s7, _Z13get_global_idj@rel32@hi+12
	v_mov_b32_e32 v41, 0
	s_swappc_b64 s[30:31], s[6:7]
	v_mov_b32_e32 v40, v0
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v42
	v_mov_b32_e32 v0, 0
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z12get_local_idj@rel32@lo+4
	s_addc_u32 s7, s7, _Z12get_local_idj@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	v_lshl_add_u32 v45, v0, 2, s50
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v42
	v_mov_b32_e32 v0, 1
	ds_write_b32 v45, v41
	s_getpc_b64 s[48:49]
	s_add_u32 s48, s48, _Z7barrierj@rel32@lo+4
	s_addc_u32 s49, s49, _Z7barrierj@rel32@hi+12
	s_swappc_b64 s[30:31], s[48:49]
	v_ashrrev_i32_e32 v41, 31, v40
	v_mov_b32_e32 v0, s43
	v_add_co_u32_e32 v43, vcc, s42, v40
	v_addc_co_u32_e32 v44, vcc, v0, v41, vcc
	global_load_ubyte v0, v[43:44], off
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v42
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z10atomic_incPU3AS3Vj@rel32@lo+4
	s_addc_u32 s7, s7, _Z10atomic_incPU3AS3Vj@rel32@hi+12
	s_waitcnt vmcnt(0)
	v_and_b32_e32 v0, 63, v0
	v_lshl_add_u32 v0, v0, 2, s50
	s_swappc_b64 s[30:31], s[6:7]
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v42
	v_mov_b32_e32 v0, 1
	s_swappc_b64 s[30:31], s[48:49]
	global_load_ubyte v0, v[43:44], off
	ds_read_b32 v2, v45
	v_mov_b32_e32 v1, s47
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v42
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z10atomic_addPU3AS1Vjj@rel32@lo+4
	s_addc_u32 s7, s7, _Z10atomic_addPU3AS1Vjj@rel32@hi+12
	s_waitcnt vmcnt(0)
	v_lshlrev_b32_e32 v0, 2, v0
	v_add_co_u32_e32 v0, vcc, s46, v0
	v_addc_co_u32_e32 v1, vcc, 0, v1, vcc
	s_swappc_b64 s[30:31], s[6:7]
	s_add_u32 s15, s46, 0x400
	s_addc_u32 s16, s47, 0
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v42
	v_mov_b32_e32 v0, s15
	v_mov_b32_e32 v1, s16
	v_mov_b32_e32 v2, 3
	v_mov_b32_e32 v3, 4
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z14atomic_cmpxchgPU3AS1Vjjj@rel32@lo+4
	s_addc_u32 s7, s7, _Z14atomic_cmpxchgPU3AS1Vjjj@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	s_add_u32 s15, s46, 0x404
	s_addc_u32 s16, s47, 0
	v_mov_b32_e32 v43, v0
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v42
	v_mov_b32_e32 v0, s15
	v_mov_b32_e32 v1, s16
	v_mov_b32_e32 v2, 1
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z11atomic_xchgPU3AS1Vjj@rel32@lo+4
	s_addc_u32 s7, s7, _Z11atomic_xchgPU3AS1Vjj@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	v_add_u32_e32 v2, v0, v43
	v_lshlrev_b64 v[0:1], 2, v[40:41]
	v_mov_b32_e32 v3, s45
	v_add_co_u32_e32 v0, vcc, s44, v0
	v_addc_co_u32_e32 v1, vcc, v3, v1, vcc
	global_store_dword v[0:1], v2, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel counts
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 288
		.amdhsa_user_sgpr_count 12
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_flat_scratch_init 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_system_sgpr_private_segment_wavefront_offset 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 46
		.amdhsa_next_free_sgpr 51
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 1
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
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
; codeLenInByte = 676
; NumSgprs: 57
; NumVgprs: 46
; NumAgprs: 0
; TotalNumVgprs: 46
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 7
; VGPRBlocks: 11
; NumSGPRsForWavesPerEU: 57
; NumVGPRsForWavesPerEU: 46
; Occupancy: 5
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 12
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
	s_add_u32 flat_scratch_lo, s10, s15
	s_addc_u32 flat_scratch_hi, s11, 0
	s_add_u32 s0, s0, s15
	s_addc_u32 s1, s1, 0
	s_load_dwordx8 s[44:51], s[6:7], 0x0
	s_add_u32 s38, s6, 32
	v_lshlrev_b32_e32 v2, 20, v2
	v_lshlrev_b32_e32 v1, 10, v1
	s_mov_b64 s[34:35], s[8:9]
	s_addc_u32 s39, s7, 0
	v_or3_b32 v42, v0, v1, v2
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	v_mov_b32_e32 v31, v42
	v_mov_b32_e32 v0, 0
	s_mov_b32 s32, 0
	s_mov_b32 s33, s14
	s_mov_b32 s40, s13
	s_mov_b32 s41, s12
	s_mov_b64 s[36:37], s[4:5]
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z13get_global_idj@rel32@lo+4
	s_addc_u32 s7, s7, _Z13get_global_idj@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	v_mov_b32_e32 v40, v0
	v_ashrrev_i32_e32 v41, 31, v40
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v42
	v_mov_b32_e32 v1, v41
	v_mov_b32_e32 v2, s46
	v_mov_b32_e32 v3, s47
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z6vload2mPU3AS0KDh@rel32@lo+4
	s_addc_u32 s7, s7, _Z6vload2mPU3AS0KDh@rel32@hi+12
	s_swappc_b64 s[30:31], s[6:7]
	v_lshlrev_b64 v[43:44], 1, v[40:41]
	v_mov_b32_e32 v2, s49
	v_add_co_u32_e32 v1, vcc, s48, v43
	v_addc_co_u32_e32 v2, vcc, v2, v44, vcc
	global_load_ushort v3, v[1:2], off
	v_lshlrev_b64 v[1:2], 2, v[40:41]
	v_mov_b32_e32 v4, s51
	v_add_co_u32_e32 v40, vcc, s50, v1
	v_addc_co_u32_e32 v41, vcc, v4, v2, vcc
	global_load_ubyte v1, v[40:41], off offset:1
	v_lshrrev_b32_e32 v2, 16, v0
	s_mov_b64 s[4:5], s[36:37]
	s_mov_b64 s[8:9], s[38:39]
	s_mov_b64 s[10:11], s[34:35]
	s_mov_b32 s12, s41
	s_mov_b32 s13, s40
	s_mov_b32 s14, s33
	v_mov_b32_e32 v31, v42
	s_getpc_b64 s[6:7]
	s_add_u32 s6, s6, _Z12convert_halfh@rel32@lo+4
	s_addc_u32 s7, s7, _Z12convert_halfh@rel32@hi+12
	s_waitcnt vmcnt(1)
	v_cvt_f16_i16_e32 v3, v3
	v_fma_f16 v45, v0, v2, v3
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v0, v1
	s_swappc_b64 s[30:31], s[6:7]
	global_load_ubyte v1, v[40:41], off offset:3
	v_add_f16_e32 v0, v45, v0
	v_mov_b32_e32 v2, s45
	s_waitcnt vmcnt(0)
	v_cvt_f16_u16_e32 v1, v1
	v_sub_f16_e32 v3, v0, v1
	v_add_co_u32_e32 v0, vcc, s44, v43
	v_addc_co_u32_e32 v1, vcc, v2, v44, vcc
	global_store_short v[0:1], v3, off
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel halves
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 288
		.amdhsa_user_sgpr_count 12
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 1
		.amdhsa_user_sgpr_flat_scratch_init 1
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 1
		.amdhsa_system_sgpr_private_segment_wavefront_offset 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_next_free_vgpr 46
		.amdhsa_next_free_sgpr 52
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 1
		.amdhsa_reserve_xnack_mask 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
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
; NumSgprs: 58
; NumVgprs: 46
; NumAgprs: 0
; TotalNumVgprs: 46
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 7
; VGPRBlocks: 11
; NumSGPRsForWavesPerEU: 58
; NumVGPRsForWavesPerEU: 46
; Occupancy: 5
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 12
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
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
  - .agpr_count:     0
    .args:
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
    .sgpr_count:     55
    .sgpr_spill_count: 0
    .symbol:         transpose.kd
    .uses_dynamic_stack: true
    .vgpr_count:     45
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .sgpr_count:     46
    .sgpr_spill_count: 0
    .symbol:         steps.kd
    .uses_dynamic_stack: true
    .vgpr_count:     32
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .sgpr_count:     54
    .sgpr_spill_count: 0
    .symbol:         private_array.kd
    .uses_dynamic_stack: true
    .vgpr_count:     47
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .sgpr_count:     55
    .sgpr_spill_count: 0
    .symbol:         doubles.kd
    .uses_dynamic_stack: true
    .vgpr_count:     58
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .sgpr_count:     57
    .sgpr_spill_count: 0
    .symbol:         counts.kd
    .uses_dynamic_stack: true
    .vgpr_count:     46
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
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
    .sgpr_count:     58
    .sgpr_spill_count: 0
    .symbol:         halves.kd
    .uses_dynamic_stack: true
    .vgpr_count:     46
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx908
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
