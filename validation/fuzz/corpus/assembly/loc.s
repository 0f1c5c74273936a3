	.amdgcn_target "amdgpu9.42-amd-amdhsa-unknown-gfx942"
	.amdhsa_code_object_version 5
	.text
	.globl	scaled_exp                      ; -- Begin function scaled_exp
	.p2align	8
	.type	scaled_exp,@function
scaled_exp:                             ; @scaled_exp
.Lfunc_begin0:
	.cfi_sections .debug_frame
	.cfi_startproc
; %bb.1:
	.file	1 "/home/user/corpus" "small.py"
	.loc	1 7 0 prologue_end              ; small.py:7:0
	s_load_dwordx2 s[2:3], s[0:1], 0x0
	s_load_dwordx8 s[4:11], s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
	s_branch .LBB0_0
	.loc	1 0 0 is_stmt 0                 ; :0:0
.Ltmp0:
	.p2align	8
; %bb.2:
.LBB0_0:
	.cfi_escape 0x0f, 0x04, 0x30, 0x36, 0xe9, 0x02 ; CFA is 0 in private_wave aspace
	.cfi_undefined 16
	s_mov_b64 s[0:1], s[2:3]
.Ltmp1:
	.loc	1 8 36 is_stmt 1                ; small.py:8:36
	v_readfirstlane_b32 s2, v0
	.loc	1 9 5                           ; small.py:9:5
	s_and_b32 s2, s2, 0xc0
	.loc	1 9 30 is_stmt 0                ; small.py:9:30
	v_bfrev_b32_e32 v2, 1
	.loc	1 8 36 is_stmt 1                ; small.py:8:36
	v_and_or_b32 v0, v0, 63, s2
	.loc	1 8 9 is_stmt 0                 ; small.py:8:9
	v_lshl_or_b32 v0, s12, 8, v0
	.loc	1 9 30 is_stmt 1                ; small.py:9:30
	v_lshlrev_b32_e32 v1, 2, v0
	.loc	1 9 68 is_stmt 0                ; small.py:9:68
	v_cmp_gt_i32_e32 vcc, s6, v0
