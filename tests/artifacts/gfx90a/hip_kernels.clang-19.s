	.text
	.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
	.amdhsa_code_object_version 5
	.p2align	2                               ; -- Begin function _Z3farfi
	.type	_Z3farfi,@function
_Z3farfi:                               ; @_Z3farfi
.Lfunc_begin0:
	.file	0 "/home/user/corpus" "hip_kernels.hip" md5 0x54ac4bc31cfe474d5bcce8bf34792aa6
	.loc	0 6 0                           ; hip_kernels.hip:6:0
	.cfi_sections .debug_frame
	.cfi_startproc
; %bb.0:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
.Ltmp0:
	.loc	0 6 84 prologue_end             ; hip_kernels.hip:6:84
	v_cmp_lt_i32_e32 vcc, 0, v1
	.loc	0 6 66 is_stmt 0                ; hip_kernels.hip:6:66
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB2_4
; %bb.1:
	.loc	0 0 66                          ; hip_kernels.hip:0:66
	s_mov_b64 s[6:7], 0
.LBB2_2:                                ; =>This Inner Loop Header: Depth=1
	.loc	0 6 84                          ; hip_kernels.hip:6:84
	v_add_u32_e32 v1, -1, v1
	v_cmp_eq_u32_e32 vcc, 0, v1
	.loc	0 6 66                          ; hip_kernels.hip:6:66
	s_or_b64 s[6:7], vcc, s[6:7]
	.loc	0 6 104                         ; hip_kernels.hip:6:104
	v_fma_f32 v0, v0, v0, 0.5
	.loc	0 6 66                          ; hip_kernels.hip:6:66
	s_andn2_b64 exec, exec, s[6:7]
	s_cbranch_execnz .LBB2_2
; %bb.3:
	.loc	0 0 66                          ; hip_kernels.hip:0:66
	s_or_b64 exec, exec, s[6:7]
.LBB2_4:
	s_or_b64 exec, exec, s[4:5]
	.loc	0 6 112                         ; hip_kernels.hip:6:112
	s_setpc_b64 s[30:31]
.Ltmp1:
.Lfunc_end0:
	.size	_Z3farfi, .Lfunc_end0-_Z3farfi
	.cfi_endproc
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 60
; NumSgprs: 36
; NumVgprs: 2
; NumAgprs: 0
; TotalNumVgprs: 2
; ScratchSize: 0
; MemoryBound: 0
	.section	.text._Z5scaleIfEvPT_PKS0_S0_i,"axG",@progbits,_Z5scaleIfEvPT_PKS0_S0_i,comdat
	.protected	_Z5scaleIfEvPT_PKS0_S0_i ; -- Begin function _Z5scaleIfEvPT_PKS0_S0_i
	.globl	_Z5scaleIfEvPT_PKS0_S0_i
	.p2align	8
	.type	_Z5scaleIfEvPT_PKS0_S0_i,@function
_Z5scaleIfEvPT_PKS0_S0_i:               ; @_Z5scaleIfEvPT_PKS0_S0_i
.Lfunc_begin1:
	.cfi_startproc
; %bb.0:
	.loc	0 9 11 prologue_end is_stmt 1   ; hip_kernels.hip:9:11
	s_load_dwordx2 s[0:1], s[4:5], 0x10
	.loc	0 9 51 is_stmt 0                ; hip_kernels.hip:9:51
	v_lshl_add_u32 v0, s6, 8, v0
	.loc	0 10 9 is_stmt 1                ; hip_kernels.hip:10:9
	s_waitcnt lgkmcnt(0)
	v_cmp_gt_i32_e32 vcc, s1, v0
	.loc	0 10 7 is_stmt 0                ; hip_kernels.hip:10:7
	s_and_saveexec_b64 s[2:3], vcc
	s_cbranch_execz .LBB0_2
; %bb.1:
	.loc	0 9 11 is_stmt 1                ; hip_kernels.hip:9:11
	s_load_dwordx4 s[4:7], s[4:5], 0x0
	.loc	0 10 32                         ; hip_kernels.hip:10:32
	v_ashrrev_i32_e32 v1, 31, v0
	v_lshlrev_b64 v[0:1], 2, v[0:1]
	s_mov_b32 s1, 0x41000000
	s_mov_b32 s2, 0xc1000000
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v3, s7
	v_add_co_u32_e32 v2, vcc, s6, v0
	v_addc_co_u32_e32 v3, vcc, v3, v1, vcc
	global_load_dword v2, v[2:3], off
.Ltmp2:
	.loc	0 5 78                          ; hip_kernels.hip:5:78
	v_mov_b32_e32 v3, 0x41000000
	v_mov_b32_e32 v4, 0xc1000000
.Ltmp3:
	.loc	0 10 14                         ; hip_kernels.hip:10:14
	v_mov_b32_e32 v5, s5
	.loc	0 10 38 is_stmt 0               ; hip_kernels.hip:10:38
	s_waitcnt vmcnt(0)
	v_mul_f32_e32 v2, s0, v2
.Ltmp4:
	.loc	0 5 78 is_stmt 1                ; hip_kernels.hip:5:78
	v_cmp_nlt_f32_e32 vcc, s1, v2
	v_cndmask_b32_e32 v3, v3, v2, vcc
	v_cmp_ngt_f32_e32 vcc, s2, v2
	v_cndmask_b32_e32 v2, v4, v3, vcc
.Ltmp5:
	.loc	0 10 14                         ; hip_kernels.hip:10:14
	v_add_co_u32_e32 v0, vcc, s4, v0
	v_addc_co_u32_e32 v1, vcc, v5, v1, vcc
	.loc	0 10 21 is_stmt 0               ; hip_kernels.hip:10:21
	global_store_dword v[0:1], v2, off
.LBB0_2:
	.loc	0 11 1 is_stmt 1                ; hip_kernels.hip:11:1
	s_endpgm
.Ltmp6:
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel _Z5scaleIfEvPT_PKS0_S0_i
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 6
		.amdhsa_next_free_sgpr 8
		.amdhsa_accum_offset 8
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
	.section	.text._Z5scaleIfEvPT_PKS0_S0_i,"axG",@progbits,_Z5scaleIfEvPT_PKS0_S0_i,comdat
.Lfunc_end1:
	.size	_Z5scaleIfEvPT_PKS0_S0_i, .Lfunc_end1-_Z5scaleIfEvPT_PKS0_S0_i
	.cfi_endproc
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 156
; NumSgprs: 12
; NumVgprs: 6
; NumAgprs: 0
; TotalNumVgprs: 6
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 12
; NumVGPRsForWavesPerEU: 6
; AccumOffset: 8
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 1
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.section	.text._Z5scaleIDF16_EvPT_PKS0_S0_i,"axG",@progbits,_Z5scaleIDF16_EvPT_PKS0_S0_i,comdat
	.protected	_Z5scaleIDF16_EvPT_PKS0_S0_i ; -- Begin function _Z5scaleIDF16_EvPT_PKS0_S0_i
	.globl	_Z5scaleIDF16_EvPT_PKS0_S0_i
	.p2align	8
	.type	_Z5scaleIDF16_EvPT_PKS0_S0_i,@function
_Z5scaleIDF16_EvPT_PKS0_S0_i:           ; @_Z5scaleIDF16_EvPT_PKS0_S0_i
.Lfunc_begin2:
	.cfi_startproc
; %bb.0:
	.loc	0 9 11 prologue_end             ; hip_kernels.hip:9:11
	s_load_dwordx2 s[0:1], s[4:5], 0x10
	.loc	0 9 51 is_stmt 0                ; hip_kernels.hip:9:51
	v_lshl_add_u32 v0, s6, 8, v0
	.loc	0 10 9 is_stmt 1                ; hip_kernels.hip:10:9
	s_waitcnt lgkmcnt(0)
	v_cmp_gt_i32_e32 vcc, s1, v0
	.loc	0 10 7 is_stmt 0                ; hip_kernels.hip:10:7
	s_and_saveexec_b64 s[2:3], vcc
	s_cbranch_execz .LBB1_2
; %bb.1:
	.loc	0 9 11 is_stmt 1                ; hip_kernels.hip:9:11
	s_load_dwordx4 s[4:7], s[4:5], 0x0
	.loc	0 10 32                         ; hip_kernels.hip:10:32
	v_ashrrev_i32_e32 v1, 31, v0
	v_lshlrev_b64 v[0:1], 1, v[0:1]
	s_movk_i32 s1, 0x4800
	s_mov_b32 s2, 0xc800
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v3, s7
	v_add_co_u32_e32 v2, vcc, s6, v0
	v_addc_co_u32_e32 v3, vcc, v3, v1, vcc
	global_load_ushort v2, v[2:3], off
.Ltmp7:
	.loc	0 5 78                          ; hip_kernels.hip:5:78
	v_mov_b32_e32 v3, 0x4800
	v_mov_b32_e32 v4, 0xc800
.Ltmp8:
	.loc	0 10 14                         ; hip_kernels.hip:10:14
	v_mov_b32_e32 v5, s5
	.loc	0 10 38 is_stmt 0               ; hip_kernels.hip:10:38
	s_waitcnt vmcnt(0)
	v_mul_f16_e32 v2, s0, v2
.Ltmp9:
	.loc	0 5 78 is_stmt 1                ; hip_kernels.hip:5:78
	v_cmp_nlt_f16_e32 vcc, s1, v2
	v_cndmask_b32_e32 v3, v3, v2, vcc
	v_cmp_ngt_f16_e32 vcc, s2, v2
	v_cndmask_b32_e32 v2, v4, v3, vcc
.Ltmp10:
	.loc	0 10 14                         ; hip_kernels.hip:10:14
	v_add_co_u32_e32 v0, vcc, s4, v0
	v_addc_co_u32_e32 v1, vcc, v5, v1, vcc
	.loc	0 10 21 is_stmt 0               ; hip_kernels.hip:10:21
	global_store_short v[0:1], v2, off
.LBB1_2:
	.loc	0 11 1 is_stmt 1                ; hip_kernels.hip:11:1
	s_endpgm
.Ltmp11:
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel _Z5scaleIDF16_EvPT_PKS0_S0_i
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 6
		.amdhsa_next_free_sgpr 8
		.amdhsa_accum_offset 8
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
	.section	.text._Z5scaleIDF16_EvPT_PKS0_S0_i,"axG",@progbits,_Z5scaleIDF16_EvPT_PKS0_S0_i,comdat
.Lfunc_end2:
	.size	_Z5scaleIDF16_EvPT_PKS0_S0_i, .Lfunc_end2-_Z5scaleIDF16_EvPT_PKS0_S0_i
	.cfi_endproc
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 152
; NumSgprs: 12
; NumVgprs: 6
; NumAgprs: 0
; TotalNumVgprs: 6
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 12
; NumVGPRsForWavesPerEU: 6
; AccumOffset: 8
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 1
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	reduce                  ; -- Begin function reduce
	.globl	reduce
	.p2align	8
	.type	reduce,@function
reduce:                                 ; @reduce
.Lfunc_begin3:
	.loc	0 15 0                          ; hip_kernels.hip:15:0
	.cfi_startproc
; %bb.0:
	s_add_u32 flat_scratch_lo, s6, s9
	s_addc_u32 flat_scratch_hi, s7, 0
	s_add_u32 s0, s0, s9
.Ltmp12:
	.loc	0 17 14 prologue_end            ; hip_kernels.hip:17:14
	s_load_dword s9, s[4:5], 0x10
	s_load_dwordx4 s[12:15], s[4:5], 0x0
	v_mov_b32_e32 v2, v0
	s_addc_u32 s1, s1, 0
	v_mov_b32_e32 v7, 0
	.loc	0 19 24                         ; hip_kernels.hip:19:24
	s_waitcnt lgkmcnt(0)
	v_cmp_gt_i32_e32 vcc, s9, v2
	v_lshlrev_b32_e32 v6, 2, v2
	s_mov_b32 s32, 0
	.loc	0 19 3 is_stmt 0                ; hip_kernels.hip:19:3
	s_and_saveexec_b64 s[10:11], vcc
	s_cbranch_execz .LBB3_4
; %bb.1:
	v_mov_b32_e32 v0, s15
	v_add_co_u32_e32 v4, vcc, s14, v6
	v_and_b32_e32 v3, 3, v2
	v_mov_b32_e32 v7, 0
	v_addc_co_u32_e32 v5, vcc, 0, v0, vcc
	s_mov_b64 s[14:15], 0
	v_mov_b32_e32 v8, v2
.LBB3_2:                                ; =>This Inner Loop Header: Depth=1
	.loc	0 19 50                         ; hip_kernels.hip:19:50
	global_load_dword v0, v[4:5], off
	.loc	0 19 46                         ; hip_kernels.hip:19:46
	v_mov_b32_e32 v1, v3
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, _Z3farfi@rel32@lo+4
	s_addc_u32 s5, s5, _Z3farfi@rel32@hi+12
	s_swappc_b64 s[30:31], s[4:5]
.Ltmp13:
	.loc	0 19 31                         ; hip_kernels.hip:19:31
	v_add_u32_e32 v8, 0x100, v8
	.loc	0 19 24                         ; hip_kernels.hip:19:24
	v_add_co_u32_e32 v4, vcc, 0x400, v4
	v_cmp_le_i32_e64 s[4:5], s9, v8
	.loc	0 19 43                         ; hip_kernels.hip:19:43
	v_add_f32_e32 v7, v7, v0
	.loc	0 19 3                          ; hip_kernels.hip:19:3
	s_or_b64 s[14:15], s[4:5], s[14:15]
	.loc	0 19 24                         ; hip_kernels.hip:19:24
	v_addc_co_u32_e32 v5, vcc, 0, v5, vcc
	.loc	0 19 3                          ; hip_kernels.hip:19:3
	s_andn2_b64 exec, exec, s[14:15]
	s_cbranch_execnz .LBB3_2
; %bb.3:
	.loc	0 0 3                           ; hip_kernels.hip:0:3
	s_or_b64 exec, exec, s[14:15]
.LBB3_4:
	s_or_b64 exec, exec, s[10:11]
	s_movk_i32 s4, 0x80
	.loc	0 23 14 is_stmt 1               ; hip_kernels.hip:23:14
	v_cmp_gt_u32_e32 vcc, s4, v2
	.loc	0 20 14                         ; hip_kernels.hip:20:14
	ds_write_b32 v6, v7
	.loc	0 22 5                          ; hip_kernels.hip:22:5
	s_barrier
	.loc	0 23 9                          ; hip_kernels.hip:23:9
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB3_6
; %bb.5:
	.loc	0 23 36 is_stmt 0               ; hip_kernels.hip:23:36
	ds_read2st64_b32 v[0:1], v6 offset1:2
	.loc	0 23 33                         ; hip_kernels.hip:23:33
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v0, v1, v0
	ds_write_b32 v6, v0
.LBB3_6:
	.loc	0 0 33                          ; hip_kernels.hip:0:33
	s_or_b64 exec, exec, s[4:5]
	.loc	0 23 14                         ; hip_kernels.hip:23:14
	v_cmp_gt_u32_e32 vcc, 64, v2
	.loc	0 22 5 is_stmt 1                ; hip_kernels.hip:22:5
	s_barrier
	.loc	0 23 9                          ; hip_kernels.hip:23:9
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB3_8
; %bb.7:
	.loc	0 23 36 is_stmt 0               ; hip_kernels.hip:23:36
	ds_read2st64_b32 v[0:1], v6 offset1:1
	.loc	0 23 33                         ; hip_kernels.hip:23:33
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v0, v1, v0
	ds_write_b32 v6, v0
.LBB3_8:
	.loc	0 0 33                          ; hip_kernels.hip:0:33
	s_or_b64 exec, exec, s[4:5]
	.loc	0 23 14                         ; hip_kernels.hip:23:14
	v_cmp_gt_u32_e32 vcc, 32, v2
	.loc	0 22 5 is_stmt 1                ; hip_kernels.hip:22:5
	s_barrier
	.loc	0 23 9                          ; hip_kernels.hip:23:9
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB3_10
; %bb.9:
	.loc	0 23 36 is_stmt 0               ; hip_kernels.hip:23:36
	ds_read2_b32 v[0:1], v6 offset1:32
	.loc	0 23 33                         ; hip_kernels.hip:23:33
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v0, v1, v0
	ds_write_b32 v6, v0
.LBB3_10:
	.loc	0 0 33                          ; hip_kernels.hip:0:33
	s_or_b64 exec, exec, s[4:5]
	.loc	0 23 14                         ; hip_kernels.hip:23:14
	v_cmp_gt_u32_e32 vcc, 16, v2
	.loc	0 22 5 is_stmt 1                ; hip_kernels.hip:22:5
	s_barrier
	.loc	0 23 9                          ; hip_kernels.hip:23:9
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB3_12
; %bb.11:
	.loc	0 23 36 is_stmt 0               ; hip_kernels.hip:23:36
	ds_read2_b32 v[0:1], v6 offset1:16
	.loc	0 23 33                         ; hip_kernels.hip:23:33
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v0, v1, v0
	ds_write_b32 v6, v0
.LBB3_12:
	.loc	0 0 33                          ; hip_kernels.hip:0:33
	s_or_b64 exec, exec, s[4:5]
	.loc	0 23 14                         ; hip_kernels.hip:23:14
	v_cmp_gt_u32_e32 vcc, 8, v2
	.loc	0 22 5 is_stmt 1                ; hip_kernels.hip:22:5
	s_barrier
	.loc	0 23 9                          ; hip_kernels.hip:23:9
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB3_14
; %bb.13:
	.loc	0 23 33 is_stmt 0               ; hip_kernels.hip:23:33
	ds_read2_b32 v[0:1], v6 offset1:8
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v0, v1, v0
	ds_write_b32 v6, v0
.LBB3_14:
	.loc	0 0 33                          ; hip_kernels.hip:0:33
	s_or_b64 exec, exec, s[4:5]
	.loc	0 23 14                         ; hip_kernels.hip:23:14
	v_cmp_gt_u32_e32 vcc, 4, v2
	.loc	0 22 5 is_stmt 1                ; hip_kernels.hip:22:5
	s_barrier
	.loc	0 23 9                          ; hip_kernels.hip:23:9
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB3_16
; %bb.15:
	.loc	0 23 33 is_stmt 0               ; hip_kernels.hip:23:33
	ds_read2_b32 v[0:1], v6 offset1:4
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v0, v1, v0
	ds_write_b32 v6, v0
.LBB3_16:
	.loc	0 0 33                          ; hip_kernels.hip:0:33
	s_or_b64 exec, exec, s[4:5]
	.loc	0 23 14                         ; hip_kernels.hip:23:14
	v_cmp_gt_u32_e32 vcc, 2, v2
	.loc	0 22 5 is_stmt 1                ; hip_kernels.hip:22:5
	s_barrier
	.loc	0 23 9                          ; hip_kernels.hip:23:9
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB3_18
; %bb.17:
	.loc	0 23 33 is_stmt 0               ; hip_kernels.hip:23:33
	ds_read2_b32 v[0:1], v6 offset1:2
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v0, v1, v0
	ds_write_b32 v6, v0
.LBB3_18:
	.loc	0 0 33                          ; hip_kernels.hip:0:33
	s_or_b64 exec, exec, s[4:5]
	s_mov_b32 s9, 0
	.loc	0 23 9                          ; hip_kernels.hip:23:9
	v_cmp_eq_u32_e32 vcc, 0, v2
	.loc	0 22 5 is_stmt 1                ; hip_kernels.hip:22:5
	s_barrier
	.loc	0 23 9                          ; hip_kernels.hip:23:9
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB3_20
; %bb.19:
	.loc	0 0 9 is_stmt 0                 ; hip_kernels.hip:0:9
	v_mov_b32_e32 v0, 0
	.loc	0 23 36                         ; hip_kernels.hip:23:36
	ds_read_b32 v1, v0 offset:4
	.loc	0 23 33                         ; hip_kernels.hip:23:33
	ds_read_b32 v2, v6
	s_lshl_b64 s[4:5], s[8:9], 2
	s_add_u32 s4, s12, s4
	s_addc_u32 s5, s13, s5
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v1, v1, v2
	ds_write_b32 v6, v1
	.loc	0 25 59 is_stmt 1               ; hip_kernels.hip:25:59
	ds_read_b32 v1, v0
	.loc	0 25 57 is_stmt 0               ; hip_kernels.hip:25:57
	s_waitcnt lgkmcnt(0)
	global_store_dword v0, v1, s[4:5]
.LBB3_20:
	.loc	0 26 1 is_stmt 1                ; hip_kernels.hip:26:1
	s_endpgm
.Ltmp14:
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel reduce
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 20
		.amdhsa_user_sgpr_count 8
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 1
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 9
		.amdhsa_next_free_sgpr 33
		.amdhsa_accum_offset 12
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
.Lfunc_end3:
	.size	reduce, .Lfunc_end3-reduce
	.cfi_endproc
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 592
; NumSgprs: 39
; NumVgprs: 9
; NumAgprs: 0
; TotalNumVgprs: 9
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 1024 bytes/workgroup (compile time only)
; SGPRBlocks: 4
; VGPRBlocks: 1
; NumSGPRsForWavesPerEU: 39
; NumVGPRsForWavesPerEU: 9
; AccumOffset: 12
; Occupancy: 8
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 8
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 2
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.p2alignl 6, 3212836864
	.fill 256, 4, 3212836864
	.type	__hip_cuid_4304d9ed01abcf13,@object ; @__hip_cuid_4304d9ed01abcf13
	.section	.bss,"aw",@nobits
	.globl	__hip_cuid_4304d9ed01abcf13
__hip_cuid_4304d9ed01abcf13:
	.byte	0                               ; 0x0
	.size	__hip_cuid_4304d9ed01abcf13, 1

	.section	.debug_abbrev,"",@progbits
	.byte	1                               ; Abbreviation Code
	.byte	17                              ; DW_TAG_compile_unit
	.byte	1                               ; DW_CHILDREN_yes
	.byte	37                              ; DW_AT_producer
	.byte	37                              ; DW_FORM_strx1
	.byte	19                              ; DW_AT_language
	.byte	5                               ; DW_FORM_data2
	.byte	3                               ; DW_AT_name
	.byte	37                              ; DW_FORM_strx1
	.byte	114                             ; DW_AT_str_offsets_base
	.byte	23                              ; DW_FORM_sec_offset
	.byte	16                              ; DW_AT_stmt_list
	.byte	23                              ; DW_FORM_sec_offset
	.byte	27                              ; DW_AT_comp_dir
	.byte	37                              ; DW_FORM_strx1
	.byte	17                              ; DW_AT_low_pc
	.byte	1                               ; DW_FORM_addr
	.byte	85                              ; DW_AT_ranges
	.byte	35                              ; DW_FORM_rnglistx
	.byte	115                             ; DW_AT_addr_base
	.byte	23                              ; DW_FORM_sec_offset
	.byte	116                             ; DW_AT_rnglists_base
	.byte	23                              ; DW_FORM_sec_offset
	.byte	0                               ; EOM(1)
	.byte	0                               ; EOM(2)
	.byte	2                               ; Abbreviation Code
	.byte	46                              ; DW_TAG_subprogram
	.byte	0                               ; DW_CHILDREN_no
	.byte	3                               ; DW_AT_name
	.byte	37                              ; DW_FORM_strx1
	.byte	32                              ; DW_AT_inline
	.byte	33                              ; DW_FORM_implicit_const
	.byte	1
	.byte	0                               ; EOM(1)
	.byte	0                               ; EOM(2)
	.byte	3                               ; Abbreviation Code
	.byte	46                              ; DW_TAG_subprogram
	.byte	1                               ; DW_CHILDREN_yes
	.byte	17                              ; DW_AT_low_pc
	.byte	27                              ; DW_FORM_addrx
	.byte	18                              ; DW_AT_high_pc
	.byte	6                               ; DW_FORM_data4
	.byte	122                             ; DW_AT_call_all_calls
	.byte	25                              ; DW_FORM_flag_present
	.byte	3                               ; DW_AT_name
	.byte	37                              ; DW_FORM_strx1
	.byte	0                               ; EOM(1)
	.byte	0                               ; EOM(2)
	.byte	4                               ; Abbreviation Code
	.byte	29                              ; DW_TAG_inlined_subroutine
	.byte	0                               ; DW_CHILDREN_no
	.byte	49                              ; DW_AT_abstract_origin
	.byte	19                              ; DW_FORM_ref4
	.byte	85                              ; DW_AT_ranges
	.byte	35                              ; DW_FORM_rnglistx
	.byte	88                              ; DW_AT_call_file
	.byte	11                              ; DW_FORM_data1
	.byte	89                              ; DW_AT_call_line
	.byte	11                              ; DW_FORM_data1
	.byte	87                              ; DW_AT_call_column
	.byte	11                              ; DW_FORM_data1
	.byte	0                               ; EOM(1)
	.byte	0                               ; EOM(2)
	.byte	0                               ; EOM(3)
	.section	.debug_info,"",@progbits
.Lcu_begin0:
	.long	.Ldebug_info_end0-.Ldebug_info_start0 ; Length of Unit
.Ldebug_info_start0:
	.short	5                               ; DWARF version number
	.byte	1                               ; DWARF Unit Type
	.byte	8                               ; Address Size (in bytes)
	.long	.debug_abbrev                   ; Offset Into Abbrev. Section
	.byte	1                               ; Abbrev [1] 0xc:0x46 DW_TAG_compile_unit
	.byte	0                               ; DW_AT_producer
	.short	33                              ; DW_AT_language
	.byte	1                               ; DW_AT_name
	.long	.Lstr_offsets_base0             ; DW_AT_str_offsets_base
	.long	.Lline_table_start0             ; DW_AT_stmt_list
	.byte	2                               ; DW_AT_comp_dir
	.quad	0                               ; DW_AT_low_pc
	.byte	2                               ; DW_AT_ranges
	.long	.Laddr_table_base0              ; DW_AT_addr_base
	.long	.Lrnglists_table_base0          ; DW_AT_rnglists_base
	.byte	2                               ; Abbrev [2] 0x2b:0x2 DW_TAG_subprogram
	.byte	3                               ; DW_AT_name
                                        ; DW_AT_inline
	.byte	3                               ; Abbrev [3] 0x2d:0x11 DW_TAG_subprogram
	.byte	1                               ; DW_AT_low_pc
	.long	.Lfunc_end1-.Lfunc_begin1       ; DW_AT_high_pc
                                        ; DW_AT_call_all_calls
	.byte	5                               ; DW_AT_name
	.byte	4                               ; Abbrev [4] 0x34:0x9 DW_TAG_inlined_subroutine
	.long	43                              ; DW_AT_abstract_origin
	.byte	0                               ; DW_AT_ranges
	.byte	0                               ; DW_AT_call_file
	.byte	10                              ; DW_AT_call_line
	.byte	23                              ; DW_AT_call_column
	.byte	0                               ; End Of Children Mark
	.byte	2                               ; Abbrev [2] 0x3e:0x2 DW_TAG_subprogram
	.byte	4                               ; DW_AT_name
                                        ; DW_AT_inline
	.byte	3                               ; Abbrev [3] 0x40:0x11 DW_TAG_subprogram
	.byte	2                               ; DW_AT_low_pc
	.long	.Lfunc_end2-.Lfunc_begin2       ; DW_AT_high_pc
                                        ; DW_AT_call_all_calls
	.byte	6                               ; DW_AT_name
	.byte	4                               ; Abbrev [4] 0x47:0x9 DW_TAG_inlined_subroutine
	.long	62                              ; DW_AT_abstract_origin
	.byte	1                               ; DW_AT_ranges
	.byte	0                               ; DW_AT_call_file
	.byte	10                              ; DW_AT_call_line
	.byte	23                              ; DW_AT_call_column
	.byte	0                               ; End Of Children Mark
	.byte	0                               ; End Of Children Mark
.Ldebug_info_end0:
	.section	.debug_rnglists,"",@progbits
	.long	.Ldebug_list_header_end0-.Ldebug_list_header_start0 ; Length
.Ldebug_list_header_start0:
	.short	5                               ; Version
	.byte	8                               ; Address size
	.byte	0                               ; Segment selector size
	.long	3                               ; Offset entry count
.Lrnglists_table_base0:
	.long	.Ldebug_ranges0-.Lrnglists_table_base0
	.long	.Ldebug_ranges1-.Lrnglists_table_base0
	.long	.Ldebug_ranges2-.Lrnglists_table_base0
.Ldebug_ranges0:
	.byte	1                               ; DW_RLE_base_addressx
	.byte	1                               ;   base address index
	.byte	4                               ; DW_RLE_offset_pair
	.uleb128 .Ltmp2-.Lfunc_begin1           ;   starting offset
	.uleb128 .Ltmp3-.Lfunc_begin1           ;   ending offset
	.byte	4                               ; DW_RLE_offset_pair
	.uleb128 .Ltmp4-.Lfunc_begin1           ;   starting offset
	.uleb128 .Ltmp5-.Lfunc_begin1           ;   ending offset
	.byte	0                               ; DW_RLE_end_of_list
.Ldebug_ranges1:
	.byte	1                               ; DW_RLE_base_addressx
	.byte	2                               ;   base address index
	.byte	4                               ; DW_RLE_offset_pair
	.uleb128 .Ltmp7-.Lfunc_begin2           ;   starting offset
	.uleb128 .Ltmp8-.Lfunc_begin2           ;   ending offset
	.byte	4                               ; DW_RLE_offset_pair
	.uleb128 .Ltmp9-.Lfunc_begin2           ;   starting offset
	.uleb128 .Ltmp10-.Lfunc_begin2          ;   ending offset
	.byte	0                               ; DW_RLE_end_of_list
.Ldebug_ranges2:
	.byte	1                               ; DW_RLE_base_addressx
	.byte	0                               ;   base address index
	.byte	4                               ; DW_RLE_offset_pair
	.uleb128 .Lfunc_begin0-.Lfunc_begin0    ;   starting offset
	.uleb128 .Lfunc_end0-.Lfunc_begin0      ;   ending offset
	.byte	4                               ; DW_RLE_offset_pair
	.uleb128 .Lfunc_begin3-.Lfunc_begin0    ;   starting offset
	.uleb128 .Lfunc_end3-.Lfunc_begin0      ;   ending offset
	.byte	3                               ; DW_RLE_startx_length
	.byte	1                               ;   start index
	.uleb128 .Lfunc_end1-.Lfunc_begin1      ;   length
	.byte	3                               ; DW_RLE_startx_length
	.byte	2                               ;   start index
	.uleb128 .Lfunc_end2-.Lfunc_begin2      ;   length
	.byte	0                               ; DW_RLE_end_of_list
.Ldebug_list_header_end0:
	.section	.debug_str_offsets,"",@progbits
	.long	32                              ; Length of String Offsets Set
	.short	5
	.short	0
.Lstr_offsets_base0:
	.section	.debug_str,"MS",@progbits,1
.Linfo_string0:
	.asciz	"Debian clang version 19.1.7 (3~deb12u1)" ; string offset=0
.Linfo_string1:
	.asciz	"hip_kernels.hip"               ; string offset=40
.Linfo_string2:
	.asciz	"/home/user/corpus"                   ; string offset=56
.Linfo_string3:
	.asciz	"clamp<float>"                  ; string offset=68
.Linfo_string4:
	.asciz	"clamp<_Float16>"               ; string offset=81
.Linfo_string5:
	.asciz	"scale<float>"                  ; string offset=97
.Linfo_string6:
	.asciz	"scale<_Float16>"               ; string offset=110
	.section	.debug_str_offsets,"",@progbits
	.long	.Linfo_string0
	.long	.Linfo_string1
	.long	.Linfo_string2
	.long	.Linfo_string3
	.long	.Linfo_string4
	.long	.Linfo_string5
	.long	.Linfo_string6
	.section	.debug_addr,"",@progbits
	.long	.Ldebug_addr_end0-.Ldebug_addr_start0 ; Length of contribution
.Ldebug_addr_start0:
	.short	5                               ; DWARF version number
	.byte	8                               ; Address size
	.byte	0                               ; Segment selector size
.Laddr_table_base0:
	.quad	.Lfunc_begin0
	.quad	.Lfunc_begin1
	.quad	.Lfunc_begin2
.Ldebug_addr_end0:
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
	.addrsig_sym __hip_cuid_4304d9ed01abcf13
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
      - .offset:         16
        .size:           4
        .value_kind:     by_value
      - .offset:         20
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 24
    .max_flat_workgroup_size: 1024
    .name:           _Z5scaleIfEvPT_PKS0_S0_i
    .private_segment_fixed_size: 0
    .sgpr_count:     12
    .sgpr_spill_count: 0
    .symbol:         _Z5scaleIfEvPT_PKS0_S0_i.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     6
    .vgpr_spill_count: 0
    .wavefront_size: 64
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
      - .offset:         16
        .size:           2
        .value_kind:     by_value
      - .offset:         20
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 24
    .max_flat_workgroup_size: 1024
    .name:           _Z5scaleIDF16_EvPT_PKS0_S0_i
    .private_segment_fixed_size: 0
    .sgpr_count:     12
    .sgpr_spill_count: 0
    .symbol:         _Z5scaleIDF16_EvPT_PKS0_S0_i.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     6
    .vgpr_spill_count: 0
    .wavefront_size: 64
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
      - .offset:         16
        .size:           4
        .value_kind:     by_value
    .group_segment_fixed_size: 1024
    .kernarg_segment_align: 8
    .kernarg_segment_size: 20
    .max_flat_workgroup_size: 1024
    .name:           reduce
    .private_segment_fixed_size: 0
    .sgpr_count:     39
    .sgpr_spill_count: 0
    .symbol:         reduce.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     9
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx90a
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
	.section	.debug_line,"",@progbits
.Lline_table_start0:
