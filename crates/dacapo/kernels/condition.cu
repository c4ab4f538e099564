// Conditions of a recording: what sets the handles of conditional nodes.

// The driver has it for every module that names it.
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);

// A condition in postfix order, as an argument by value. Each code is a byte:
// - 0x00..0x05 compare, with a type and two operands in the three bytes behind it: equal, differs, above, at least, below,
//   at most;
// - 0x10 and, 0x11 or, 0x12 not, on what stands on the stack of bits; 0x13 true.
// An operand below 8 is the element behind the pointer of that number, one above is the value of that number less 8.
struct Program {
    unsigned length;
    unsigned char code[60];
    unsigned long long value[8];
};

// What is done with it, and with the state of a loop: whether it goes on, rounds that were run, whether the bound ended it.
enum { IF = 0, BEGIN = 1, END = 2, LEAVE = 3, SWITCH = 4 };

enum { U8, U16, U32, U64, I8, I16, I32, I64, F16, BF16, F32, F64 };

__device__ __forceinline__ float from_f16(unsigned short bits) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
    return wide;
}

// The bits of an element, as many as its type has.
__device__ __forceinline__ unsigned long long bits_of(unsigned type, const void* at) {
    switch (type) {
        case U8: case I8: return *(const unsigned char*)at;
        case U16: case I16: case F16: case BF16: return *(const unsigned short*)at;
        case U32: case I32: case F32: return *(const unsigned*)at;
        default: return *(const unsigned long long*)at;
    }
}

// Both halves of an order: whether a is below b, and whether they are equal. Every number is compared without rounding: whole
// numbers in 64 bits, the others in double precision.
struct Compared {
    bool below, equal, above;
};

template <typename T>
__device__ __forceinline__ Compared compared(T a, T b) {
    return Compared{a < b, a == b, a > b};
}

__device__ __forceinline__ long long widened(unsigned type, unsigned long long bits) {
    switch (type) {
        case I8: return (signed char)bits;
        case I16: return (short)bits;
        case I32: return (int)bits;
        default: return (long long)bits;
    }
}

__device__ __forceinline__ double real(unsigned type, unsigned long long bits) {
    switch (type) {
        case F16: return from_f16((unsigned short)bits);
        case BF16: return __uint_as_float((unsigned)bits << 16);
        case F32: return __uint_as_float((unsigned)bits);
        default: return __longlong_as_double((long long)bits);
    }
}

__device__ __forceinline__ Compared compare(unsigned type, unsigned long long a, unsigned long long b) {
    if (type < I8) return compared(a, b);
    if (type < F16) return compared(widened(type, a), widened(type, b));
    return compared(real(type, a), real(type, b));
}

// One thread. `state` is four words of a loop or the first of them for a branch; `rest` is that of what follows a way out of a
// round. `bound` is a number of rounds; it is read from the element `limit` where that is not null, and none is 2^32 - 1.
// A handle of 0 is none: then only the state says what was decided.
extern "C" __global__ void decide(unsigned* state, unsigned* rest, const unsigned* limit, const void* a, const void* b,
                                  const void* c, const void* d, const void* e, const void* f, const void* g, const void* h,
                                  Program program, unsigned mode, unsigned bound, unsigned long long rest_handle,
                                  unsigned long long handle) {
    const void* element[8] = {a, b, c, d, e, f, g, h};
    auto operand = [&](unsigned type, unsigned number) {
        unsigned long long bits = 0;
#pragma unroll
        for (unsigned i = 0; i < 8; i++) {
            if (number == i) bits = bits_of(type, element[i]);
            if (number == i + 8) bits = program.value[i];
        }
        return bits;
    };
    if (mode == SWITCH) {
        unsigned value = (unsigned)operand(U32, program.code[0]);
        state[0] = value;
        if (handle) cudaGraphSetConditional(handle, value);
        return;
    }
    unsigned stack = 0;
    for (unsigned at = 0; at < program.length;) {
        unsigned code = program.code[at];
        if (code < 0x10) {
            unsigned type = program.code[at + 1];
            Compared it = compare(type, operand(type, program.code[at + 2]), operand(type, program.code[at + 3]));
            bool holds = code == 0   ? it.equal
                         : code == 1 ? !it.equal
                         : code == 2 ? it.above
                         : code == 3 ? it.above || it.equal
                         : code == 4 ? it.below
                                     : it.below || it.equal;
            stack = stack << 1 | holds;
            at += 4;
            continue;
        }
        unsigned last = stack & 1;
        if (code == 0x10) stack = (stack >> 1) & (last | ~1u);
        if (code == 0x11) stack = (stack >> 1) | last;
        if (code == 0x12) stack ^= 1;
        if (code == 0x13) stack = stack << 1 | 1;
        at++;
    }
    unsigned holds = stack & 1;
    if (limit) bound = *limit;
    if (mode == LEAVE) {
        if (holds) {
            state[0] = 0;
            state[1] += 1;
            if (handle) cudaGraphSetConditional(handle, 0);
        }
        rest[0] = !holds;
        if (rest_handle) cudaGraphSetConditional(rest_handle, !holds);
        return;
    }
    unsigned go_on = holds;
    if (mode == BEGIN) {
        go_on = holds && bound > 0;
        state[1] = 0;
        state[2] = holds && !go_on;
    }
    if (mode == END) {
        unsigned rounds = state[1] + 1;
        go_on = holds && rounds < bound;
        state[1] = rounds;
        state[2] = holds && !go_on;
    }
    state[0] = go_on;
    if (handle) cudaGraphSetConditional(handle, go_on);
}
