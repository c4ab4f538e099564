// Conditions of a recording: what sets the handles of conditional nodes.

// The driver has it for every module that names it.
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);

// A condition in postfix order, as an argument by value. The low byte of a step says what it is:
// - 0 to 5 compare, with a type and two operands in the bytes above: equal, differs, above, at least, below, at most;
// - 16 and, 17 or, 18 not, on what stands on the stack of bits; 19 true.
// An operand below 8 is the element behind the pointer of that number, one above is the value of that number less 8.
// Read by constant index only, so that nothing of it goes to memory.
struct Program {
    unsigned length;
    unsigned step[15];
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

// Whether a comparison holds.
__device__ __forceinline__ bool compares(unsigned step, unsigned long long left, unsigned long long right) {
    Compared it = compare(step >> 8 & 255, left, right);
    switch (step & 255) {
        case 0: return it.equal;
        case 1: return !it.equal;
        case 2: return it.above;
        case 3: return it.above || it.equal;
        case 4: return it.below;
        default: return it.below || it.equal;
    }
}

// What follows from a condition that holds or does not. `state` is four words of a loop or the first of them for a branch;
// `rest` is that of what follows a way out of a round. `bound` is a number of rounds; it is read from the element `limit`
// where that is not null, and none is 2^32 - 1. A handle of 0 is none: then only the state says what was decided.
__device__ __forceinline__ void act(bool holds, unsigned* state, unsigned* rest, const unsigned* limit, unsigned mode,
                                    unsigned bound, unsigned long long rest_handle, unsigned long long handle) {
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
    bool goes_on = holds;
    if (mode != IF) {
        unsigned rounds = mode == BEGIN ? 0 : state[1] + 1;
        if (limit) bound = *limit;
        goes_on = holds && rounds < bound;
        state[1] = rounds;
        state[2] = holds && !goes_on;
    }
    state[0] = goes_on;
    if (handle) cudaGraphSetConditional(handle, goes_on);
}

// One comparison, or in mode SWITCH one number. One thread. An operand is an element where its pointer is not null.
extern "C" __global__ void decide(unsigned* state, unsigned* rest, const unsigned* limit, const void* left, const void* right,
                                  unsigned long long left_value, unsigned long long right_value, unsigned step,
                                  unsigned mode, unsigned bound, unsigned long long rest_handle,
                                  unsigned long long handle) {
    unsigned type = step >> 8 & 255;
    if (left) left_value = bits_of(type, left);
    if (mode == SWITCH) {
        state[0] = (unsigned)left_value;
        if (handle) cudaGraphSetConditional(handle, (unsigned)left_value);
        return;
    }
    if (right) right_value = bits_of(type, right);
    bool holds = (step & 255) == 19 || compares(step, left_value, right_value);
    act(holds, state, rest, limit, mode, bound, rest_handle, handle);
}

// Several comparisons. One thread.
extern "C" __global__ void decide_many(unsigned* state, unsigned* rest, const unsigned* limit, const void* a, const void* b,
                                       const void* c, const void* d, const void* e, const void* f, const void* g,
                                       const void* h, Program program, unsigned mode, unsigned bound,
                                       unsigned long long rest_handle, unsigned long long handle) {
    const void* element[8] = {a, b, c, d, e, f, g, h};
    auto operand = [&](unsigned type, unsigned number) {
        const void* at = a;
        unsigned long long bits = program.value[0];
#pragma unroll
        for (unsigned i = 1; i < 8; i++) {
            if (number == i) at = element[i];
            if (number == i + 8) bits = program.value[i];
        }
        return number < 8 ? bits_of(type, at) : bits;
    };
    unsigned stack = 0;
#pragma unroll 1
    for (unsigned at = 0; at < program.length; at++) {
        unsigned step = 0;
#pragma unroll
        for (unsigned i = 0; i < 15; i++)
            if (at == i) step = program.step[i];
        unsigned last = stack & 1;
        switch (step & 255) {
            case 16: stack = (stack >> 1) & (last | ~1u); break;
            case 17: stack = (stack >> 1) | last; break;
            case 18: stack ^= 1; break;
            case 19: stack = stack << 1 | 1; break;
            default: {
                unsigned type = step >> 8 & 255;
                bool holds = compares(step, operand(type, step >> 16 & 255), operand(type, step >> 24));
                stack = stack << 1 | holds;
            }
        }
    }
    act(stack & 1, state, rest, limit, mode, bound, rest_handle, handle);
}
