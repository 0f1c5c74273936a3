"""What exceptions of the compiler mean to the user."""

from kprof.compiler.failures import explain


def test_a_feature_that_was_taken_out_names_the_releases_that_have_it():
    gone = explain(NotImplementedError("Block pointers have been removed in favor of descriptors"), "source", None, {})
    assert gone.message.startswith("does not compile: NotImplementedError: Block pointers have been removed")
    assert gone.hint is not None
    assert "Triton 3.4 to 3.8" in gone.hint
    assert explain(ValueError("something else"), "source", None, {}).hint is None
