"""Which reads of a loop find their value in a local."""

from hypothesis import given
from hypothesis import strategies as st

from codegen.expressions.carry import Access, kept

PASSES = 5


def read(array: str, begin: int, stride: int) -> Access:
    return Access(array, tuple(begin + stride * k for k in range(PASSES)), False)


def write(array: str, begin: int, stride: int) -> Access:
    return Access(array, tuple(begin + stride * k for k in range(PASSES)), True)


def test_a_read_after_a_write_of_the_same_pass_is_kept():
    assert kept([write("y", 2, 2), read("y", 2, 2)]) == ({1: 0}, {})


def test_a_read_of_what_the_pass_before_wrote_is_kept():
    assert kept([read("y", 0, 2), write("y", 2, 2)]) == ({}, {0: 1})


def test_a_read_of_what_two_passes_before_wrote_is_not_kept():
    assert kept([read("y", 0, 1), write("y", 2, 1)]) == ({}, {})


def test_another_array_at_the_same_place_is_not_kept():
    assert kept([read("x", 0, 2), write("y", 2, 2)]) == ({}, {})


accesses = st.lists(
    st.tuples(
        st.sampled_from("xy"), st.integers(0, 6), st.integers(-2, 2), st.booleans()
    ).map(lambda a: Access(a[0], tuple(20 + a[1] + a[2] * k for k in range(PASSES)), a[3])),
    min_size=1,
    max_size=8,
)  # fmt: skip


@given(accesses)
def test_locals_hold_what_memory_holds(body):
    this, last = kept(body)
    memory = {(array, i): ("before", array, i) for array in "xy" for i in range(60)}
    carried = {
        write: memory[body[number].array, body[number].indices[0]]
        for number, write in last.items()
    }  # fmt: skip
    for k in range(PASSES):
        now = {}
        for number, access in enumerate(body):
            element = (access.array, access.indices[k])
            if access.is_write:
                memory[element] = now[number] = (number, k)
            elif number in this:
                assert now[this[number]] == memory[element]
            elif number in last:
                assert carried[last[number]] == memory[element]
        carried = {write: now[write] for write in carried}
