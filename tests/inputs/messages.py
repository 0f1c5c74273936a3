"""Writes messages of protocol buffers byte by byte, so that readers are not tested by what they read with."""


def varint(number):
    """A number in groups of seven bits; negative ones as 64 bits."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """A field: numbers are varints; bytes, texts and messages have their length before them."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def message(*fields):
    """Fields one after the other."""
    return b"".join(field(number, value) for number, value in fields)
